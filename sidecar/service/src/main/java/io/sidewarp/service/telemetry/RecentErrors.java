// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.grpc.Status;
import io.sidewarp.common.status.RecentEvents;
import io.sidewarp.service.error.ErrorTable;
import io.sidewarp.v1.Retry;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Errors of the last minutes, for the status page: failed calls, refused work, and errors that ended connections.
 * Contains no STags, because an STag is the right to access a region. Thread-safe.
 */
public final class RecentErrors {

    /** STag in a message, with the tagged offset that may follow. Regions are described by their STags, too. */
    private static final Pattern STAG =
            Pattern.compile("(STag|region) 0x[0-9a-fA-F]+(, tagged offset 0x[0-9a-fA-F]+)?");

    private final RecentEvents<Failure> failures = new RecentEvents<>();

    /**
     * A failure.
     *
     * @param where call, or kind of work
     * @param session name of the session, or empty if it is not known
     * @param status status for the caller
     * @param message text for people
     * @param advice what to do
     */
    public record Failure(String where, String session, Status.Code status, String message, String advice) {}

    /** Adds a failure. */
    public void add(String where, String session, Status.Code status, String message, Retry retry) {
        failures.add(new Failure(where, session, status, message, ErrorTable.advice(retry)));
    }

    /** Returns the failures, the newest first. */
    public List<RecentEvents.Entry<Failure>> list() {
        return failures.list().stream()
                .map(entry -> new RecentEvents.Entry<>(withoutStag(entry.event()), entry.count(), entry.last()))
                .toList();
    }

    private static Failure withoutStag(Failure failure) {
        String message = STAG.matcher(failure.message)
                .replaceAll(stag -> stag.group(1).equals("region") ? "a region" : "an STag");
        return new Failure(failure.where, failure.session, failure.status, message, failure.advice);
    }
}
