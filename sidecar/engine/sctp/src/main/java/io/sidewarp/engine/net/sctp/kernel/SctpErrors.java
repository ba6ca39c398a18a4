// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Collectors;

/** Translates the error numbers of system calls into exceptions with an explanation. */
final class SctpErrors {

    private SctpErrors() {}

    /** Returns the exception for a call that failed without a known reason. */
    static IllegalStateException unexpected(String call, int error) {
        return new IllegalStateException("the system call " + call + " failed with error number " + -error);
    }

    /** Throws unless a call succeeded. */
    static int check(String call, int result) {
        if (result < 0) {
            throw unexpected(call, result);
        }
        return result;
    }

    /** Returns the exception for an SCTP socket that could not be created. */
    static SctpUnavailableException unavailable(int error) {
        String reason = switch (-error) {
            case KernelConstants.EPROTONOSUPPORT, KernelConstants.ESOCKTNOSUPPORT -> "this kernel has no SCTP";
            case KernelConstants.EACCES, KernelConstants.EPERM -> "this process may not use the kernel's SCTP";
            default -> "the kernel provides no SCTP socket";
        };
        return new SctpUnavailableException(
                reason + " (error number " + -error
                        + "). Load it on the node (modprobe sctp) and let containers use it,"
                        + " or use SCTP in UDP, which needs neither.",
                unexpected("socket", error));
    }

    /** Returns the exception for addresses and a port that could not be bound. */
    static IOException unbound(List<InetAddress> addresses, int port, int error) {
        String what = addresses.stream().map(InetAddress::getHostAddress).collect(Collectors.joining(", "));
        return switch (-error) {
            case SocketApi.EADDRINUSE -> new BindException("SCTP port " + port + " of " + what + " is in use");
            case KernelConstants.EADDRNOTAVAIL, KernelConstants.EINVAL ->
                new BindException("not all of these are addresses of this machine: " + what);
            case KernelConstants.EACCES ->
                new BindException("SCTP port " + port + " of " + what + " needs a privilege: use a port above 1023");
            default -> new IOException("binding to " + what + " failed with error number " + -error);
        };
    }

    /** Returns the exception for an association that could not be started. */
    static IOException unconnected(List<InetAddress> addresses, int error) {
        String what = addresses.stream().map(InetAddress::getHostAddress).collect(Collectors.joining(", "));
        return new IOException("no route from the local addresses to " + what + " (error number " + -error + ")");
    }
}
