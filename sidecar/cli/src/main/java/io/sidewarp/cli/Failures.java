// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import io.grpc.Status;
import io.sidewarp.client.ConnectionRejectedException;
import io.sidewarp.client.Retry;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkFailedException;
import io.sidewarp.common.FailureText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;

/** Converts exceptions into one line for people and an exit code. */
public final class Failures implements CommandLine.IExecutionExceptionHandler {

    @Override
    public int handleExecutionException(Exception exception, CommandLine command, CommandLine.ParseResult result) {
        return report(exception, command);
    }

    /** Reports what a command threw. Returns the exit code. */
    static int report(Throwable exception, CommandLine command) {
        Failure failure = of(exception);
        PrintWriter err = command.getErr();
        if (failure.exitCode() == ExitCode.INTERRUPTED || Interruption.requested()) {
            return ExitCode.INTERRUPTED;
        }
        err.println("sidewarp: " + failure.getMessage());
        Object root = command.getCommandSpec().root().userObject();
        if (root instanceof Sidewarp sidewarp && sidewarp.verbose()) {
            exception.printStackTrace(err);
        } else if (failure.exitCode() == ExitCode.INTERNAL) {
            err.println("sidewarp: run it again with --verbose for details, and report them");
        }
        err.flush();
        return failure.exitCode();
    }

    /** Returns the failure that an exception stands for. */
    public static Failure of(Throwable exception) {
        return switch (exception) {
            case Failure failure -> failure;
            case CompletionException e when e.getCause() != null -> of(e.getCause());
            case ExecutionException e when e.getCause() != null -> of(e.getCause());
            case InterruptedException e -> Failure.interrupted();
            case SidewarpException e -> new Failure(codeOf(e), e.getMessage(), e);
            case NoSuchFileException e -> new Failure(ExitCode.NO_INPUT, "there is no file " + e.getFile(), e);
            case AccessDeniedException e -> new Failure(ExitCode.NO_PERMISSION, "no permission for " + e.getFile(), e);
            case FileSystemException e -> new Failure(ExitCode.IO_ERROR, FailureText.withFile(e), e);
            case IOException e -> new Failure(ExitCode.IO_ERROR, "input or output failed: " + FailureText.reason(e), e);
            case IllegalArgumentException e -> new Failure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
            case InternalError e
            when isFaultOfMappedMemory(e) ->
                new Failure(
                        ExitCode.IO_ERROR,
                        "a file that is mapped here, in the shared volume for instance, became shorter or cannot be read",
                        e);
            default -> new Failure(ExitCode.INTERNAL, "internal error: " + exception, exception);
        };
    }

    /**
     * Waits for the result of work.
     *
     * @throws Failure when the work failed, or this thread was interrupted
     */
    public static <T> T await(Future<T> work) {
        try {
            return work.get();
        } catch (InterruptedException | ExecutionException e) {
            throw of(e);
        }
    }

    /**
     * Waits for the result of work, at most for the given time.
     *
     * @param late message of the failure when the time is over
     */
    public static <T> T await(Future<T> work, Duration patience, String late) {
        try {
            return work.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException | ExecutionException e) {
            throw of(e);
        } catch (TimeoutException e) {
            throw new Failure(ExitCode.TEMPORARY, late, e);
        }
    }

    /** Recognizes the fault by HotSpot's message. */
    private static boolean isFaultOfMappedMemory(InternalError e) {
        String message = e.getMessage();
        return message != null && message.contains("unsafe memory access");
    }

    /**
     * Returns whether an error of the protocols, or the loss of a connection, is the cause. The sidecar itself works.
     */
    private static boolean isOfConnection(SidewarpException e) {
        return e.rdmaError().isPresent()
                || (e.retry() == Retry.AFTER_RECONNECTING && e.code() != Status.Code.UNAUTHENTICATED);
    }

    private static int codeOf(SidewarpException e) {
        if (e instanceof WorkFailedException || isOfConnection(e)) {
            return ExitCode.FAILED;
        }
        if (e instanceof ConnectionRejectedException) {
            return ExitCode.TEMPORARY;
        }
        return switch (e.code()) {
            case UNAVAILABLE -> ExitCode.UNAVAILABLE;
            case DEADLINE_EXCEEDED -> ExitCode.TEMPORARY;
            case RESOURCE_EXHAUSTED -> ExitCode.NO_RESOURCES;
            case PERMISSION_DENIED, UNAUTHENTICATED -> ExitCode.NO_PERMISSION;
            case FAILED_PRECONDITION, UNIMPLEMENTED, NOT_FOUND, ALREADY_EXISTS -> ExitCode.CONFIGURATION;
            case INVALID_ARGUMENT, OUT_OF_RANGE -> ExitCode.USAGE;
            case ABORTED, DATA_LOSS -> ExitCode.FAILED;
            case CANCELLED -> Interruption.requested() ? ExitCode.INTERRUPTED : ExitCode.FAILED;
            default -> ExitCode.INTERNAL;
        };
    }
}
