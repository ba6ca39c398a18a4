// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import java.time.Duration;

/** Exceptions of rings. Each message names the cause and the remedy. */
final class RingErrors {

    private static final String REMEDY = "; open another queue with Session.openQueue";

    private RingErrors() {}

    static SidewarpException socketClosed() {
        return new SidewarpException(
                Status.Code.UNAVAILABLE,
                "the sidecar closed the socket of the queue before its work was complete (UNAVAILABLE)");
    }

    static SidewarpException socketFailed(Exception cause) {
        return new SidewarpException(
                Status.Code.UNAVAILABLE, "the socket of the queue failed: " + cause.getMessage(), null, cause);
    }

    static SidewarpException recordLength(int length) {
        return new SidewarpException(
                Status.Code.INTERNAL,
                "the sidecar sent a record of " + length + " bytes on the socket of the queue; allowed are 16 to 4096"
                        + REMEDY);
    }

    static SidewarpException ended(long ring, String text) {
        return new SidewarpException(
                Status.Code.UNAVAILABLE, "the sidecar ended ring " + ring + " of the queue: " + text + REMEDY);
    }

    static SidewarpException ended() {
        return new SidewarpException(Status.Code.UNAVAILABLE, "the sidecar ended a ring of the queue" + REMEDY);
    }

    static SidewarpException refused(int code, String text) {
        return new SidewarpException(
                Status.fromCodeValue(code).getCode(), "the sidecar closed the socket of the queue: " + text);
    }

    static SidewarpException fileCutShort(InternalError cause) {
        return new SidewarpException(Status.Code.UNAVAILABLE, "the file of a ring was cut short" + REMEDY, null, cause);
    }

    static SidewarpException brokenCompletion() {
        return new SidewarpException(
                Status.Code.INTERNAL, "the sidecar wrote a completion of an unknown length into the ring" + REMEDY);
    }

    static SidewarpException unknownCompletion(long place) {
        return new SidewarpException(
                Status.Code.INTERNAL,
                "the sidecar completed a work request that is not outstanding: " + place + REMEDY);
    }

    static SidewarpException noRoom(int blocks, int needed, Duration timeout) {
        return new SidewarpException(
                Status.Code.DEADLINE_EXCEEDED,
                "the work ring of " + blocks + " blocks had no room for " + needed + " more for "
                        + Durations.text(timeout) + "; take completions from the queue, or open it for more requests");
    }

    static SidewarpException noSocket(String target) {
        return new SidewarpException(
                Status.Code.FAILED_PRECONDITION,
                "rings need the sidecar's Unix socket, and this client uses " + target
                        + "; set SIDEWARP_API to unix:///run/sidewarp/api.sock, or open the queue with QueuePath.ANY");
    }

    static SidewarpException noVolume(String places, String volume) {
        return new SidewarpException(
                Status.Code.FAILED_PRECONDITION,
                "rings need the sidecar's shared volume in this process: there is no directory " + places
                        + "; mount the volume that the sidecar mounts at " + volume
                        + " and set SIDEWARP_VOLUME to where, or open the queue with QueuePath.ANY");
    }

    static SidewarpException notAccessible(Throwable cause) {
        return new SidewarpException(
                Status.Code.FAILED_PRECONDITION,
                "this process cannot use the files of a ring: " + cause
                        + "; mount the volume that the sidecar mounts, and run under a user or group of its clients, or"
                        + " open the queue with QueuePath.ANY",
                null,
                cause);
    }

    static IllegalStateException onQueueThread() {
        return new IllegalStateException("this call waits, and the calling thread is the queue's own:"
                + " use tryPost here, or call from a thread of your own");
    }
}
