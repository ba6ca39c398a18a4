// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.CqeStatus;

/** Converts error numbers to texts, exceptions and completion statuses. */
final class KernelErrors {

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
            case LinuxErrno.EPERM, LinuxErrno.EACCES -> "permission denied";
            case LinuxErrno.ENOENT -> "there is no such device file";
            case LinuxErrno.ENODEV -> "no RDMA device has such an address";
            case LinuxErrno.ENOMEM -> "the device or the limit of locked memory (ulimit -l) allows no more";
            case LinuxErrno.EINVAL -> "the device rejects these parameters";
            case LinuxErrno.ENOSPC -> "the device has no free object of this kind";
            case LinuxErrno.EADDRINUSE -> "the address is in use";
            case LinuxErrno.EADDRNOTAVAIL ->
                "no RDMA device of this network namespace has the address, or its port is in use";
            case LinuxErrno.ENETUNREACH, LinuxErrno.EHOSTUNREACH -> "there is no route to the address";
            case LinuxErrno.ECONNRESET -> "the peer closed the connection";
            case LinuxErrno.ETIMEDOUT -> "no answer in time";
            case LinuxErrno.ECONNREFUSED -> "nobody listens there";
            default -> "error number " + -result;
        };
    }

    /** @param result negative */
    static ConnectionFailedException connecting(Object remote, int result) {
        Kind kind = switch (-result) {
            case LinuxErrno.ETIMEDOUT -> Kind.TIMEOUT;
            case LinuxErrno.ECONNREFUSED -> Kind.REFUSED;
            case LinuxErrno.ENETUNREACH, LinuxErrno.EHOSTUNREACH, LinuxErrno.EADDRNOTAVAIL, LinuxErrno.ENODEV ->
                Kind.UNREACHABLE;
            case LinuxErrno.EINVAL -> Kind.INVALID_PARAMETERS;
            case LinuxErrno.ENOMEM -> Kind.INTERNAL;
            default -> Kind.PROTOCOL;
        };
        return new ConnectionFailedException(kind, "cannot connect to " + remote + ": " + describe(result));
    }

    /** Converts a status of enum ibv_wc_status. */
    static CqeStatus status(int status) {
        return switch (status) {
            case VerbsLayout.WC_SUCCESS -> CqeStatus.SUCCESS;
            case VerbsLayout.WC_WR_FLUSH_ERR -> CqeStatus.FLUSHED;
            case VerbsLayout.WC_LOC_LEN_ERR -> CqeStatus.LOCAL_LENGTH_ERROR;
            case VerbsLayout.WC_LOC_PROT_ERR, VerbsLayout.WC_LOC_ACCESS_ERR, VerbsLayout.WC_LOC_QP_OP_ERR ->
                CqeStatus.LOCAL_PROTECTION_ERROR;
            case VerbsLayout.WC_REM_ACCESS_ERR -> CqeStatus.REMOTE_ACCESS_ERROR;
            case VerbsLayout.WC_REM_OP_ERR, VerbsLayout.WC_REM_INV_REQ_ERR -> CqeStatus.REMOTE_OPERATION_ERROR;
            default -> CqeStatus.FATAL;
        };
    }
}
