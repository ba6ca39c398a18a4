// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.QueueCompletions;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/** A Queue call on the plain stub. */
public final class TestQueue implements PostedWork {

    private final BlockingQueue<QueueResponse> responses = new LinkedBlockingQueue<>();
    private final List<WorkCompletion> left = new ArrayList<>();
    private final CompletableFuture<Throwable> failed = new CompletableFuture<>();
    private final CompletableFuture<Void> completed = new CompletableFuture<>();
    private final Context.CancellableContext context = Context.ROOT.withCancellation();
    private StreamObserver<QueueRequest> requests;
    private int messages;

    public TestQueue(Channel channel, String session, int outstanding) {
        this(channel, open(session, outstanding), Integer.MAX_VALUE);
    }

    /**
     * A call with another first request.
     *
     * @param reads responses that the client reads; it leaves the rest to the transport
     */
    public TestQueue(Channel channel, QueueRequest first, int reads) {
        context.run(() -> requests = TransferServiceGrpc.newStub(channel).queue(new Responses(reads)));
        requests.onNext(first);
    }

    /** The first request of a call. */
    public static QueueRequest open(String session, int outstanding) {
        return QueueRequest.newBuilder()
                .setOpen(QueueOpen.newBuilder().setSession(session).setOutstanding(outstanding))
                .build();
    }

    /** The credits that were granted; the first response. */
    public int credits() {
        return TestSession.take(responses).getOpened().getCredits();
    }

    @Override
    public void post(List<WorkRequest> work) {
        send(QueueRequest.newBuilder()
                .setPost(QueuePost.newBuilder().addAllWork(work))
                .build());
    }

    public void send(QueueRequest request) {
        requests.onNext(request);
    }

    @Override
    public WorkCompletion next() {
        while (left.isEmpty()) {
            QueueCompletions completions = TestSession.take(responses).getCompletions();
            messages++;
            left.addAll(completions.getCompletionsList());
        }
        return left.removeFirst();
    }

    /** Messages with completions that were looked at. */
    public int messages() {
        return messages;
    }

    @Override
    public boolean isEmpty() {
        return left.isEmpty() && responses.isEmpty();
    }

    public void halfClose() {
        requests.onCompleted();
    }

    public CompletableFuture<Void> completed() {
        return completed;
    }

    public CompletableFuture<Throwable> failed() {
        return failed;
    }

    @Override
    public void close() {
        context.cancel(null);
    }

    private final class Responses implements ClientResponseObserver<QueueRequest, QueueResponse> {

        private final int reads;

        Responses(int reads) {
            this.reads = reads;
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<QueueRequest> call) {
            call.disableAutoRequestWithInitial(reads);
        }

        @Override
        public void onNext(QueueResponse response) {
            responses.add(response);
        }

        @Override
        public void onError(Throwable failure) {
            failed.complete(failure);
        }

        @Override
        public void onCompleted() {
            completed.complete(null);
        }
    }
}
