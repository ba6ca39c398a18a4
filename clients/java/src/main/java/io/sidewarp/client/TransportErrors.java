// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.FileNotFoundException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Explains failures of the connection to a sidecar, as gRPC, Netty and the operating system report them. */
final class TransportErrors {

    /** Prefix that names the system call, in front of the operating system's words. */
    private static final Pattern CALL = Pattern.compile("^\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?:? *");

    private static final String CHECK = "; check the address, which SIDEWARP_API sets";

    private TransportErrors() {}

    /** Returns whether this side has closed the channel. */
    static boolean isClosedHere(Status status) {
        String description = description(status);
        return description.startsWith("Channel shutdown");
    }

    /** Returns the sidecar's reason for ending a call. gRPC has words of its own if the sidecar gives no reason. */
    static String reasonOfReset(Status status) {
        String description = description(status);
        return description.isEmpty() || description.startsWith("RST_STREAM")
                ? "it gave no reason and may be stopping"
                : description;
    }

    /**
     * Explains a status that comes from the connection and not from the sidecar.
     *
     * @param target address of the sidecar
     */
    static Optional<String> explain(Status status, String target) {
        String description = description(status);
        if (description.startsWith("HTTP status code") || hasCause(status.getCause(), Http2Exception.class)) {
            return Optional.of("the server at " + target + " does not speak gRPC, so it is not a sidecar" + CHECK);
        }
        if (status.getCode() != Status.Code.UNAVAILABLE) {
            return Optional.empty();
        }
        if (description.startsWith("Network closed") || description.startsWith("Connection closed after GOAWAY")) {
            return Optional.of(brokenOff(target));
        }
        Throwable cause = status.getCause();
        return cause == null ? Optional.empty() : Optional.of(unreachable(target, cause));
    }

    private static String unreachable(String target, Throwable failure) {
        String words = rootMessage(failure);
        String lower = words.toLowerCase(Locale.ROOT);
        String head = "no sidecar answers at " + target + ": ";
        if (lower.contains("no such file") || hasCause(failure, FileNotFoundException.class)) {
            return head + "the socket does not exist; start the sidecar, mount the volume that holds its socket, or set"
                    + " SIDEWARP_API to where it listens";
        }
        if (lower.contains("permission denied")) {
            return head + "permission denied; run as the sidecar's user or in its group (the socket has mode 0660)";
        }
        if (lower.contains("connection refused")) {
            return head
                    + "connection refused; the sidecar is stopped or still starting (SidewarpClient.awaitReady waits"
                    + " for it)";
        }
        if (lower.contains("connection reset") || lower.contains("broken pipe")) {
            return brokenOff(target);
        }
        if (hasCause(failure, UnresolvedAddressException.class) || hasCause(failure, UnknownHostException.class)) {
            return head + "the host's name has no address" + CHECK;
        }
        String told = CALL.matcher(words).replaceFirst("");
        return head + (told.isEmpty() ? "the connection failed" : told) + CHECK;
    }

    private static String brokenOff(String target) {
        return "the sidecar at " + target + " closed the connection; it has stopped or crashed"
                + " (SidewarpClient.awaitReady waits until it is back)";
    }

    private static String description(Status status) {
        String description = status.getDescription();
        return description == null ? "" : description;
    }

    private static boolean hasCause(@Nullable Throwable failure, Class<?> type) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the innermost message, which is the operating system's. */
    private static String rootMessage(Throwable failure) {
        String message = failure.toString();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null) {
                message = cause.getMessage();
            }
        }
        return message;
    }
}
