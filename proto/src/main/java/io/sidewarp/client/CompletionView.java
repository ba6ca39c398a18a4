// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.v1.RdmaError;
import org.jspecify.annotations.Nullable;

/**
 * The end of one work request, in an object that is used again for the next one. Valid during a call of {@link
 * CompletionTaker} only.
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

    /** The completion that this view shows, where it is an object already, or the copy of one without success. */
    private @Nullable WorkCompletion copy;

    CompletionView() {}

    /** The id that the caller gave the work request. */
    public long id() {
        return id;
    }

    /** As {@link WorkCompletion#connection()}. */
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

    /** Bytes transferred; for a receive, the length of the message, which is 0 for Immediate Data. */
    public long length() {
        return length;
    }

    /** Receives: the sender asked for an event. */
    public boolean isSolicited() {
        return has(CompletionEntryFlyweight.FLAG_SOLICITED);
    }

    /** Receives: the sender invalidated {@link #invalidatedStag}. */
    public boolean isInvalidated() {
        return has(CompletionEntryFlyweight.FLAG_INVALIDATED);
    }

    /** The local STag that the sender invalidated; 0 when there is none. */
    public int invalidatedStag() {
        return isInvalidated() ? invalidatedStag : 0;
    }

    /** Receives: Immediate Data took it, which is {@link #result}. */
    public boolean isImmediate() {
        return has(CompletionEntryFlyweight.FLAG_IMMEDIATE);
    }

    /** Atomic operations: {@link #result} is the number that they found. */
    public boolean isOriginal() {
        return has(CompletionEntryFlyweight.FLAG_ORIGINAL);
    }

    /** As {@link WorkCompletion#immediate()} or {@link WorkCompletion#original()}; 0 when there is neither. */
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
        RdmaError error = has(CompletionEntryFlyweight.FLAG_ERROR) ? error(entry) : null;
        io.sidewarp.v1.Retry retry = io.sidewarp.v1.Retry.forNumber(entry.retry());
        return completion(error, entry.text(), entry.code(), retry == null ? Retry.NEVER : Retry.of(retry));
    }

    private static RdmaError error(CompletionEntryFlyweight entry) {
        int layer = entry.errorLayer();
        int type = entry.errorType();
        int code = entry.errorCode();
        return RdmaError.newBuilder()
                .setLayer(layer)
                .setType(type)
                .setCode(code)
                .setName(RdmaErrorNames.of(layer, type, code))
                .setRemote(entry.isErrorRemote())
                .build();
    }

    private WorkCompletion completion(@Nullable RdmaError error, String message, int code, Retry retry) {
        return new WorkCompletion(
                id,
                connection,
                opcode(),
                status(),
                length,
                isSolicited(),
                isInvalidated(),
                invalidatedStag,
                isImmediate()
                        ? WorkCompletion.Result.IMMEDIATE
                        : isOriginal() ? WorkCompletion.Result.ORIGINAL : WorkCompletion.Result.NONE,
                result,
                error,
                message,
                code,
                retry);
    }

    /** Shows a completion that is an object already. */
    CompletionView show(WorkCompletion completion) {
        id = completion.id();
        connection = completion.connection();
        opcode = completion.opcode().number();
        status = completion.status().number();
        length = completion.length();
        invalidatedStag = completion.invalidatedStag().orElse(0);
        result = completion.immediate().orElse(completion.original().orElse(0));
        flags = (completion.solicited() ? CompletionEntryFlyweight.FLAG_SOLICITED : 0)
                | (completion.invalidatedStag().isPresent() ? CompletionEntryFlyweight.FLAG_INVALIDATED : 0)
                | (completion.immediate().isPresent() ? CompletionEntryFlyweight.FLAG_IMMEDIATE : 0)
                | (completion.original().isPresent() ? CompletionEntryFlyweight.FLAG_ORIGINAL : 0);
        copy = completion;
        return this;
    }
}
