// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.CompletionEntryFlyweight;
import org.jspecify.annotations.Nullable;

/**
 * The completion of one work request, in an object that is reused for the next completion. Valid only during a call of
 * {@link CompletionTaker}.
 */
public final class CompletionView {

    private long id;
    private long connection;
    private int opcode;
    private int status;
    private int flags;
    private long length;
    private long result;
    private int invalidatedStag;

    /** Completion that this view shows, if it is already an object, or the copy of a completion without success. */
    private @Nullable WorkCompletion copy;

    CompletionView() {}

    /** Returns the id that the caller gave the work request. */
    public long id() {
        return id;
    }

    /** Returns the connection, as {@link WorkCompletion#connection()} does. */
    public long connection() {
        return connection;
    }

    public Opcode opcode() {
        return Opcode.ofNumber(opcode);
    }

    public CompletionStatus status() {
        return CompletionStatus.ofNumber(status);
    }

    public boolean isSuccess() {
        return status == CompletionEntryFlyweight.STATUS_SUCCESS;
    }

    /**
     * Returns the bytes transferred. For a receive, this is the length of the message, which is 0 for Immediate Data.
     */
    public long length() {
        return length;
    }

    /** Returns whether the sender asked for an event. For receives. */
    public boolean isSolicited() {
        return has(CompletionEntryFlyweight.FLAG_SOLICITED);
    }

    /** Returns whether the sender invalidated {@link #invalidatedStag}. For receives. */
    public boolean isInvalidated() {
        return has(CompletionEntryFlyweight.FLAG_INVALIDATED);
    }

    /** Returns the local STag that the sender invalidated; 0 if there is none. */
    public int invalidatedStag() {
        return isInvalidated() ? invalidatedStag : 0;
    }

    /** Returns whether Immediate Data, which is {@link #result}, took the receive. For receives. */
    public boolean isImmediate() {
        return has(CompletionEntryFlyweight.FLAG_IMMEDIATE);
    }

    /** Returns whether {@link #result} is the earlier number in the peer's memory. For atomic operations. */
    public boolean isOriginal() {
        return has(CompletionEntryFlyweight.FLAG_ORIGINAL);
    }

    /** Returns {@link WorkCompletion#immediate()} or {@link WorkCompletion#original()}; 0 if there is neither. */
    public long result() {
        return result;
    }

    /** Returns a copy to keep. It has the error and the message of a completion without success. */
    public WorkCompletion toCompletion() {
        WorkCompletion made = copy;
        return made == null ? completion(null, "", 0, Retry.NEVER) : made;
    }

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** Shows a completion of a ring under the caller's id. */
    CompletionView show(CompletionEntryFlyweight entry, long callersId) {
        id = callersId;
        connection = entry.connection();
        opcode = entry.opcode();
        status = entry.status();
        flags = entry.flags();
        length = entry.length();
        result = entry.result();
        invalidatedStag = entry.invalidatedStag();
        copy = isSuccess() ? null : failure(entry);
        return this;
    }

    private WorkCompletion failure(CompletionEntryFlyweight entry) {
        RdmaErrorInfo error = has(CompletionEntryFlyweight.FLAG_ERROR) ? error(entry) : null;
        return completion(error, entry.text(), entry.code(), Retry.ofNumber(entry.retry()));
    }

    private static RdmaErrorInfo error(CompletionEntryFlyweight entry) {
        int layer = entry.errorLayer();
        int type = entry.errorType();
        int code = entry.errorCode();
        return new RdmaErrorInfo(layer, type, code, RdmaErrorNames.of(layer, type, code), entry.isErrorRemote());
    }

    private WorkCompletion completion(@Nullable RdmaErrorInfo error, String message, int code, Retry retry) {
        return new WorkCompletion(
                id,
                connection,
                opcode(),
                status(),
                length,
                flags,
                invalidatedStag,
                result,
                error,
                message,
                code,
                retry);
    }

    /** Shows a completion that is already an object. */
    CompletionView show(WorkCompletion completion) {
        id = completion.id();
        connection = completion.connection();
        opcode = completion.opcode().number();
        status = completion.status().number();
        length = completion.length();
        invalidatedStag = completion.invalidatedStag().orElse(0);
        result = completion.result();
        flags = completion.flags();
        copy = completion;
        return this;
    }
}
