// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.FlushRequest;
import io.sidewarp.v1.FlushResponse;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.PerformResponse;
import io.sidewarp.v1.QueueCompletions;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueueOpened;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.ReadResponse;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveResponse;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteRequest;
import io.sidewarp.v1.WriteResponse;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Work that completes when and how a test says. */
final class FakeTransfer extends TransferServiceGrpc.TransferServiceImplBase {

    final BlockingQueue<FakeQueue> queues = new LinkedBlockingQueue<>();
    final BlockingQueue<ReceiveRequest> receives = new LinkedBlockingQueue<>();

    final BlockingQueue<FlushRequest> flushes = new LinkedBlockingQueue<>();

    final BlockingQueue<PerformRequest> performs = new LinkedBlockingQueue<>();

    /** Credits that queues grant; 0: the answer does not come. */
    volatile int credits = 8;

    /** The answer of Write: a completion, a failure, or none for ever. */
    volatile @Nullable WorkCompletion writeCompletion;

    volatile WorkCompletion readCompletion = WorkCompletion.getDefaultInstance();

    volatile WorkCompletion flushCompletion = WorkCompletion.getDefaultInstance();

    volatile @Nullable StatusRuntimeException writeFailure;

    volatile WorkCompletion receiveCompletion = WorkCompletion.getDefaultInstance();

    @Override
    public void write(WriteRequest request, StreamObserver<WriteResponse> response) {
        StatusRuntimeException failure = writeFailure;
        WorkCompletion completion = writeCompletion;
        if (failure != null) {
            response.onError(failure);
        } else if (completion != null) {
            response.onNext(WriteResponse.newBuilder().setCompletion(completion).build());
            response.onCompleted();
        }
    }

    @Override
    public void read(ReadRequest request, StreamObserver<ReadResponse> response) {
        response.onNext(ReadResponse.newBuilder().setCompletion(readCompletion).build());
        response.onCompleted();
    }

    @Override
    public void flush(FlushRequest request, StreamObserver<FlushResponse> response) {
        flushes.add(request);
        response.onNext(
                FlushResponse.newBuilder().setCompletion(flushCompletion).build());
        response.onCompleted();
    }

    @Override
    public void receive(ReceiveRequest request, StreamObserver<ReceiveResponse> response) {
        receives.add(request);
        response.onNext(
                ReceiveResponse.newBuilder().setCompletion(receiveCompletion).build());
        response.onCompleted();
    }

    @Override
    public void perform(PerformRequest request, StreamObserver<PerformResponse> response) {
        performs.add(request);
        response.onNext(PerformResponse.newBuilder()
                .setCompletion(success(request.getWork()).toBuilder().setOriginal(41))
                .build());
        response.onCompleted();
    }

    @Override
    public StreamObserver<QueueRequest> queue(StreamObserver<QueueResponse> response) {
        FakeQueue queue = new FakeQueue((ServerCallStreamObserver<QueueResponse>) response);
        queues.add(queue);
        return queue;
    }

    /** Returns the completion of a request of a single call. */
    static WorkCompletion.Builder completion(CompletionStatus status) {
        return WorkCompletion.newBuilder().setStatus(status);
    }

    static WorkCompletion success(WorkRequest request) {
        return completion(request, CompletionStatus.COMPLETION_STATUS_SUCCESS);
    }

    static WorkCompletion completion(WorkRequest request, CompletionStatus status) {
        Opcode opcode = switch (request.getWorkCase()) {
            case WRITE -> Opcode.OPCODE_WRITE;
            case READ -> Opcode.OPCODE_READ;
            case SEND -> Opcode.OPCODE_SEND;
            case RECEIVE -> Opcode.OPCODE_RECEIVE;
            case IMMEDIATE -> Opcode.OPCODE_IMMEDIATE;
            case FETCH_ADD -> Opcode.OPCODE_FETCH_ADD;
            case COMPARE_SWAP -> Opcode.OPCODE_COMPARE_SWAP;
            case LOCAL_INVALIDATE -> Opcode.OPCODE_LOCAL_INVALIDATE;
            case ENABLE -> Opcode.OPCODE_ENABLE;
            case FLUSH -> Opcode.OPCODE_FLUSH;
            case WORK_NOT_SET -> Opcode.OPCODE_UNSPECIFIED;
        };
        return WorkCompletion.newBuilder()
                .setId(request.getId())
                .setConnection(request.getConnection())
                .setOpcode(opcode)
                .setStatus(status)
                .build();
    }

    /** One Queue call. */
    final class FakeQueue implements StreamObserver<QueueRequest> {

        /** Messages as they arrived. */
        final BlockingQueue<QueuePost> posts = new LinkedBlockingQueue<>();

        final CountDownLatch halfClosed = new CountDownLatch(1);
        final CountDownLatch cancelled = new CountDownLatch(1);
        volatile QueueOpen open = QueueOpen.getDefaultInstance();

        private final ServerCallStreamObserver<QueueResponse> response;

        FakeQueue(ServerCallStreamObserver<QueueResponse> response) {
            this.response = response;
        }

        @Override
        public void onNext(QueueRequest request) {
            if (request.hasOpen()) {
                open = request.getOpen();
                if (credits > 0) {
                    response.onNext(QueueResponse.newBuilder()
                            .setOpened(QueueOpened.newBuilder().setCredits(credits))
                            .build());
                }
            } else {
                posts.add(request.getPost());
            }
        }

        @Override
        public void onError(Throwable failure) {
            cancelled.countDown();
        }

        @Override
        public void onCompleted() {
            halfClosed.countDown();
        }

        /** The next work request; the messages must hold one each. */
        WorkRequest nextWork() throws InterruptedException {
            QueuePost post = FakeSidecar.next(posts);
            if (post.getWorkCount() != 1) {
                throw new AssertionError("expected one work request in " + post);
            }
            return post.getWork(0);
        }

        /** Answers all in one message, with success. */
        void succeed(WorkRequest... requests) {
            complete(Arrays.stream(requests).map(FakeTransfer::success).toArray(WorkCompletion[]::new));
        }

        void succeed(List<WorkRequest> requests) {
            succeed(requests.toArray(WorkRequest[]::new));
        }

        void complete(WorkCompletion... completions) {
            response.onNext(QueueResponse.newBuilder()
                    .setCompletions(QueueCompletions.newBuilder()
                            .addAllCompletions(Stream.of(completions).toList()))
                    .build());
        }

        void end() {
            response.onCompleted();
        }

        void fail(StatusRuntimeException failure) {
            response.onError(failure);
        }
    }
}
