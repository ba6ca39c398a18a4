// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.verbs.CompletionStatus;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;

/** Converts error numbers to texts, exceptions and completion statuses. */
final class KernelErrors {

    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    private static final int EPERM = 1;
    private static final int ENOENT = 2;
    private static final int EACCES = 13;
    private static final int ENODEV = 19;
    private static final int EINVAL = 22;
    private static final int ENOSPC = 28;
    private static final int EADDRINUSE = 98;
    private static final int EADDRNOTAVAIL = 99;
    private static final int ENETUNREACH = 101;
    private static final int ECONNRESET = 104;
    private static final int ETIMEDOUT = 110;
    private static final int ECONNREFUSED = 111;
    private static final int EHOSTUNREACH = 113;

    private KernelErrors() {}

    /** Throws for a negative error number. */
    static void check(String message, long result) {
        if (result < 0) {
            throw new IllegalStateException(message + ": " + describe((int) result));
        }
    }

    /** @param result negative */
    static String describe(int result) {
        return switch (-result) {
            case EPERM, EACCES -> "permission denied";
            case ENOENT -> "there is no such device file";
            case ENODEV -> "no RDMA device has such an address";
            case ENOMEM -> "the device or the limit of locked memory (ulimit -l) allows no more";
            case EINVAL -> "the device rejects these parameters";
            case ENOSPC -> "the device has no free object of this kind";
            case EADDRINUSE -> "the address is in use";
            case EADDRNOTAVAIL -> "no RDMA device of this network namespace has the address, or its port is in use";
            case ENETUNREACH, EHOSTUNREACH -> "there is no route to the address";
            case ECONNRESET -> "the peer closed the connection";
            case ETIMEDOUT -> "no answer in time";
            case ECONNREFUSED -> "nobody listens there";
            default -> "error number " + -result;
        };
    }

    /** @param result negative */
    static ConnectionFailedException connecting(Object remote, int result) {
        Kind kind = switch (-result) {
            case ETIMEDOUT -> Kind.TIMEOUT;
            case ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, ENODEV -> Kind.UNREACHABLE;
            case EINVAL -> Kind.INVALID_PARAMETERS;
            case ENOMEM -> Kind.INTERNAL;
            default -> Kind.PROTOCOL;
        };
        return new ConnectionFailedException(kind, "cannot connect to " + remote + ": " + describe(result));
    }

    /** Converts a status of enum ibv_wc_status. */
    static CompletionStatus status(int status) {
        return switch (status) {
            case VerbsLayout.WC_SUCCESS -> CompletionStatus.SUCCESS;
            case VerbsLayout.WC_WR_FLUSH_ERR -> CompletionStatus.FLUSHED;
            case VerbsLayout.WC_LOC_LEN_ERR -> CompletionStatus.LOCAL_LENGTH_ERROR;
            case VerbsLayout.WC_LOC_PROT_ERR, VerbsLayout.WC_LOC_ACCESS_ERR, VerbsLayout.WC_LOC_QP_OP_ERR ->
                CompletionStatus.LOCAL_PROTECTION_ERROR;
            case VerbsLayout.WC_REM_ACCESS_ERR -> CompletionStatus.REMOTE_ACCESS_ERROR;
            case VerbsLayout.WC_REM_OP_ERR, VerbsLayout.WC_REM_INV_REQ_ERR -> CompletionStatus.REMOTE_OPERATION_ERROR;
            default -> CompletionStatus.FATAL;
        };
    }
}
