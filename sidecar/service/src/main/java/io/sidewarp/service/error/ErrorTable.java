// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.error;

import io.grpc.Status;
import io.sidewarp.v1.Retry;

/**
 * Maps protocol errors to gRPC statuses, and statuses to retry advice. docs/errors.md has the same table for people. A
 * test compares both.
 */
public final class ErrorTable {

    private static final int RDMAP = 0;
    private static final int DDP = 1;
    private static final int LLP = 2;

    /**
     * Report of a failure.
     *
     * @param code gRPC status code of the failed call
     * @param retry advice when the same request may succeed
     */
    public record Outcome(Status.Code code, Retry retry) {}

    private static final Outcome DENIED = new Outcome(Status.Code.PERMISSION_DENIED, Retry.RETRY_NEVER);
    private static final Outcome BOUNDS = new Outcome(Status.Code.OUT_OF_RANGE, Retry.RETRY_NEVER);
    private static final Outcome UNKNOWN_HERE = new Outcome(Status.Code.UNIMPLEMENTED, Retry.RETRY_NEVER);
    private static final Outcome NO_RECEIVE =
            new Outcome(Status.Code.RESOURCE_EXHAUSTED, Retry.RETRY_AFTER_RECONNECTING);
    private static final Outcome BROKEN = new Outcome(Status.Code.ABORTED, Retry.RETRY_AFTER_RECONNECTING);
    private static final Outcome LOST = new Outcome(Status.Code.UNAVAILABLE, Retry.RETRY_AFTER_RECONNECTING);
    private static final Outcome MISMATCH = new Outcome(Status.Code.FAILED_PRECONDITION, Retry.RETRY_NEVER);

    private ErrorTable() {}

    /**
     * Returns the outcome of an error with the numbers of a Terminate message (RFC 5040 section 4.8, RFC 5041 section
     * 7.2, RFC 5044 section 8). Numbers that no RFC defines end the connection like any other.
     */
    public static Outcome of(int layer, int type, int code) {
        return switch (layer) {
            case RDMAP -> type == 1 ? remoteProtection(code) : type == 2 ? remoteOperation(code) : BROKEN;
            case DDP -> type == 1 ? tagged(code) : type == 2 ? untagged(code) : BROKEN;
            case LLP -> code == 6 || code == 7 ? MISMATCH : LOST;
            default -> BROKEN;
        };
    }

    private static Outcome remoteProtection(int code) {
        return switch (code) {
            case 0x00, 0x02, 0x03, 0x09 -> DENIED;
            case 0x01, 0x04 -> BOUNDS;
            default -> BROKEN;
        };
    }

    private static Outcome remoteOperation(int code) {
        return switch (code) {
            case 0x05, 0x06 -> UNKNOWN_HERE;
            case 0x09 -> DENIED;
            default -> BROKEN;
        };
    }

    private static Outcome tagged(int code) {
        return switch (code) {
            case 0x00, 0x02 -> DENIED;
            case 0x01, 0x03 -> BOUNDS;
            case 0x04 -> UNKNOWN_HERE;
            default -> BROKEN;
        };
    }

    private static Outcome untagged(int code) {
        return switch (code) {
            case 0x01, 0x06 -> UNKNOWN_HERE;
            case 0x02 -> NO_RECEIVE;
            case 0x05 -> BOUNDS;
            default -> BROKEN;
        };
    }

    /** Returns the advice in words. The table of docs/errors.md begins with the same words. */
    public static String advice(Retry retry) {
        return switch (retry) {
            case RETRY_NEVER -> "Change the request, or what it names at the peer, first. The message says what.";
            case RETRY_AFTER_RECONNECTING -> "Connect again.";
            case RETRY_LATER -> "Try again after a pause.";
            case RETRY_UNSPECIFIED, UNRECOGNIZED -> "";
        };
    }

    /** Returns the advice for a status that no protocol error caused. */
    public static Retry retry(Status.Code code) {
        return switch (code) {
            case OK -> Retry.RETRY_UNSPECIFIED;
            case RESOURCE_EXHAUSTED, UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED, CANCELLED -> Retry.RETRY_LATER;
            case UNAUTHENTICATED -> Retry.RETRY_AFTER_RECONNECTING;
            case INVALID_ARGUMENT,
                    NOT_FOUND,
                    ALREADY_EXISTS,
                    PERMISSION_DENIED,
                    FAILED_PRECONDITION,
                    OUT_OF_RANGE,
                    UNIMPLEMENTED,
                    INTERNAL,
                    UNKNOWN,
                    DATA_LOSS -> Retry.RETRY_NEVER;
        };
    }
}
