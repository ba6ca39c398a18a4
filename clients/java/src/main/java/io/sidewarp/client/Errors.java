// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.sidewarp.v1.ConnectionRejected;
import io.sidewarp.v1.ErrorAdvice;
import io.sidewarp.v1.RdmaError;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Turns gRPC statuses into exceptions whose messages name the cause and the remedy. */
final class Errors {

    private Errors() {}

    /**
     * Returns the exception for the end of a call.
     *
     * @param received status as it came. CANCELLED always comes from the other side, and means that the sidecar ended
     *     the call without a reason. A caller that cancels a call here does not look at its status.
     * @param target address of the sidecar, for messages
     */
    static SidewarpException of(Status received, @Nullable Metadata trailers, String target) {
        if (TransportErrors.isClosedHere(received)) {
            return clientClosed(target);
        }
        Status status = received.getCode() == Status.Code.CANCELLED
                ? Status.UNAVAILABLE.withDescription(
                        "the sidecar at " + target + " ended the call: " + TransportErrors.reasonOfReset(received))
                : received;
        RdmaErrorInfo rdmaError = null;
        Retry retry = null;
        com.google.rpc.Status details = trailers == null ? null : StatusProto.fromStatusAndTrailers(received, trailers);
        if (details != null) {
            for (Any detail : details.getDetailsList()) {
                try {
                    if (detail.is(ConnectionRejected.class)) {
                        return new ConnectionRejectedException(
                                describe(status, null, target),
                                detail.unpack(ConnectionRejected.class),
                                status.asRuntimeException());
                    }
                    if (detail.is(ErrorAdvice.class)) {
                        retry = Retry.ofNumber(detail.unpack(ErrorAdvice.class).getRetryValue());
                    }
                    if (detail.is(RdmaError.class)) {
                        rdmaError = Descriptions.error(detail.unpack(RdmaError.class));
                    }
                } catch (InvalidProtocolBufferException e) {
                    // Ignores a detail that cannot be read; the status itself still names the error.
                }
            }
        }
        String message = describe(status, rdmaError, target);
        Throwable cause = status.asRuntimeException(trailers == null ? new Metadata() : trailers);
        return retry == null
                ? new SidewarpException(status.getCode(), message, rdmaError, cause)
                : new SidewarpException(status.getCode(), message, retry, rdmaError, cause);
    }

    /** Interrupts the thread again, and returns the exception for its caller. */
    static SidewarpException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new SidewarpException(Status.Code.CANCELLED, "the waiting thread was interrupted", null, cause);
    }

    static SidewarpException clientClosed(String target) {
        return closed("the client of " + target + " is closed: open another one with SidewarpClient.connect");
    }

    /** Returns the exception for a session that its caller closed. */
    static SidewarpException sessionClosed(String name) {
        return closed("session \"" + name + "\" is closed: open another one with SidewarpClient.openSession");
    }

    /** Returns the exception for a session whose call ended for another reason. */
    static SidewarpException sessionLost(String name, SidewarpException cause) {
        return new SidewarpException(
                cause.code(),
                "session \"" + name + "\" was lost, and with it its regions, connections and listeners: "
                        + cause.getMessage()
                        + "; work that was outstanding may be done or not; open a new session when"
                        + " SidewarpClient.awaitReady returns, and take files over with CreateMode.OPEN_OR_CREATE",
                Retry.AFTER_RECONNECTING,
                cause.rdmaError().orElse(null),
                cause);
    }

    /**
     * Returns the exception for earlier data that may not have arrived. The session that could confirm the data is
     * gone.
     */
    static SidewarpException unconfirmed(String what, SidewarpException cause) {
        return new SidewarpException(
                Status.Code.UNAVAILABLE,
                "earlier Writes and Sends of " + what + " may not have arrived: " + cause.getMessage()
                        + "; a flush that succeeds tells what has arrived",
                Retry.AFTER_RECONNECTING,
                cause.rdmaError().orElse(null),
                cause);
    }

    /** Returns the exception for the use of an object that this side closed. */
    private static SidewarpException closed(String message) {
        return new SidewarpException(Status.Code.CANCELLED, message, Retry.NEVER, null, null);
    }

    static SidewarpException queueClosed() {
        return closed("the queue is closed: open another one with Session.openQueue");
    }

    static SidewarpException queueDrained() {
        return new SidewarpException(
                Status.Code.FAILED_PRECONDITION, "the queue was drained: open another one with Session.openQueue");
    }

    static SidewarpException queueBroken() {
        return new SidewarpException(
                Status.Code.UNAVAILABLE, "the sidecar ended the queue before its work was complete (UNAVAILABLE)");
    }

    static SidewarpException handlerFailed(Throwable cause) {
        return new SidewarpException(
                Status.Code.ABORTED, "the queue's completion handler failed: " + cause, null, cause);
    }

    /**
     * Returns the exception for a queue without a free credit.
     *
     * @param lastIsFree whether one credit is free that receives must not take
     */
    static SidewarpException noCredit(int credits, boolean lastIsFree, Duration timeout) {
        String taken = lastIsFree ? "all but one of the " : "all ";
        String remedy = lastIsFree
                ? "; receives leave the last one to send work, whose completion frees the others: post send work first"
                : "";
        return new SidewarpException(
                Status.Code.DEADLINE_EXCEEDED,
                taken + credits + " work requests of the queue were outstanding for " + Durations.text(timeout)
                        + remedy);
    }

    private static String describe(Status status, @Nullable RdmaErrorInfo rdmaError, String target) {
        String description = status.getDescription();
        Optional<String> broken = TransportErrors.explain(status, target);
        String text;
        if (broken.isPresent()) {
            text = broken.get();
        } else if (description == null || description.isEmpty()) {
            text = "the sidecar gave no reason";
        } else if (description.contains("CallOptions deadline")) {
            text = "the sidecar at " + target + " did not answer in time: " + description;
        } else {
            text = description;
        }
        return text + " (" + status.getCode() + ")" + (rdmaError == null ? "" : " [" + rdmaError + "]");
    }
}
