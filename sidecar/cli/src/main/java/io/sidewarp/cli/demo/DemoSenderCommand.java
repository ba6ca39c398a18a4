// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.perf.Histogram;
import io.sidewarp.cli.perf.Operation;
import io.sidewarp.cli.perf.PerfClient;
import io.sidewarp.cli.perf.PerfPlan;
import io.sidewarp.cli.perf.ProcessCpu;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.Digests;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The sending process of {@code sidewarp demo}, which has the file. Writes the file to the peer's memory, reads it back,
 * flushes, and measures.
 */
@Command(name = "demo-sender", hidden = true)
public final class DemoSenderCommand extends SessionCommand {

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /** Bytes of one RDMA operation. */
    private static final int OPERATION = 1 << 20;

    private static final int UNDER_WAY = 32;
    private static final String WORDS = "hello, receiver; a file is in your memory";
    private static final int LATENCY_SIZE = 8;
    private static final Duration LATENCY_TIME = Duration.ofMillis(1500);
    private static final Duration LATENCY_WARMUP = Duration.ofMillis(1500);

    @Parameters(paramLabel = "HOST:PORT", converter = HostPort.Converter.class)
    private HostPort receiver = new HostPort("", 0);

    @Option(names = "--file")
    private Optional<Path> file = Optional.empty();

    @Option(names = "--size", defaultValue = "0")
    private long size;

    @Option(names = "--window", required = true)
    private long window;

    private final MessageDigest source = Digests.sha256();
    private final MessageDigest readBack = Digests.sha256();
    private byte[] receiverDigest = new byte[0];
    private long writeNanos;
    private long readNanos;
    private long flushNanos;

    /** Creates one RDMA operation on a part of the region and the same part of the peer's. */
    @FunctionalInterface
    private interface Step {
        WorkRequest request(long offset, long length);
    }

    @Override
    public Integer call() throws Exception {
        try (Content content = file.isPresent() ? Content.Stored.open(file.get()) : new Content.Generated(size)) {
            return inSession(session -> {
                move(session, content);
                measureLatency(session);
                return ExitCode.OK;
            });
        }
    }

    /** Moves the content through a region of the given size. */
    private void move(Session session, Content content) throws IOException {
        try (Channel<DemoMessage> channel =
                        Channel.connect(session, receiver, new Hello(Service.DEMO), flags(), DemoMessage::decode);
                SharedRegion region =
                        session.createSharedRegion(RegionNames.next("demo"), window, Access.LOCAL_WRITE)) {
            channel.send(new DemoMessage.Want(window));
            RemoteAddress remote =
                    channel.receive(PATIENCE, DemoMessage.Memory.class).address();
            for (long start = 0; start < content.size(); start += window) {
                long length = Math.min(window, content.size() - start);
                progress("loading", start, content.size());
                content.load(region.segment().asSlice(0, length), start);
                Digests.update(source, region, length);
                moveWindow(channel, region, remote, start, length, content.size());
            }
            channel.send(new DemoMessage.Words(WORDS));
            String answer = channel.receive(PATIENCE, DemoMessage.Words.class).text();
            flush(channel);
            ProcessFacts.tell(out(), "words", WORDS);
            ProcessFacts.tell(out(), "answer", answer);
            ProcessFacts.tell(out(), "write.nanos", writeNanos);
            ProcessFacts.tell(out(), "read.nanos", readNanos);
            ProcessFacts.tell(out(), "flush.nanos", flushNanos);
            ProcessFacts.tell(out(), "sha256.source", HexFormat.of().formatHex(source.digest()));
            ProcessFacts.tell(out(), "sha256.receiver", HexFormat.of().formatHex(receiverDigest));
            ProcessFacts.tell(out(), "sha256.back", HexFormat.of().formatHex(readBack.digest()));
            ProcessFacts.tellConnection(out(), channel.connection().info());
            channel.send(new DemoMessage.Flushed());
        }
    }

    /** Measures the latency of small messages. */
    private void measureLatency(Session session) {
        PerfClient perf = new PerfClient(session, receiver, flags(), new ProcessCpu(0), QueueOptions.defaults());
        for (Operation operation : Operation.values()) {
            ProcessFacts.tell(out(), ProcessFacts.PROGRESS, operation + " latency");
            PerfPlan plan = new PerfPlan(operation, true, 1, 1, 1, LATENCY_SIZE, 0);
            Histogram latencies = perf.run(plan, LATENCY_WARMUP, LATENCY_TIME, ProgressLine.hidden())
                    .latencies();
            ProcessFacts.tellLatency(out(), operation.toString(), latencies);
        }
    }

    private void moveWindow(
            Channel<DemoMessage> channel,
            SharedRegion region,
            RemoteAddress remote,
            long start,
            long length,
            long size) {
        Connection connection = channel.connection();
        long begin = System.nanoTime();
        run(
                channel,
                length,
                (offset, octets) -> WorkRequest.write(connection, remote.plus(offset), region.slice(offset, octets)),
                done -> progress("RDMA Write", start + done, size));
        // A Write is complete when it is handed over. The measured time ends when the peer has all Writes.
        flush(channel);
        writeNanos += System.nanoTime() - begin;

        channel.send(new DemoMessage.Written(length));
        receiverDigest = channel.receive(PATIENCE, DemoMessage.Digest.class).sha256();

        region.segment().asSlice(0, length).fill((byte) 0);
        begin = System.nanoTime();
        run(
                channel,
                length,
                (offset, octets) -> WorkRequest.read(connection, remote.plus(offset), region.slice(offset, octets)),
                done -> progress("RDMA Read", start + done, size));
        readNanos += System.nanoTime() - begin;
        Digests.update(readBack, region, length);
    }

    /** Keeps several operations in flight until all bytes are moved. */
    private static void run(Channel<DemoMessage> channel, long length, Step step, LongConsumer progress) {
        Queue<CompletableFuture<WorkCompletion>> underWay = new ArrayDeque<>();
        for (long offset = 0; offset < length; offset += OPERATION) {
            Interruption.check();
            if (underWay.size() == UNDER_WAY) {
                await(underWay.remove());
                progress.accept(offset);
            }
            underWay.add(channel.submit(step.request(offset, Math.min(OPERATION, length - offset))));
        }
        underWay.forEach(DemoSenderCommand::await);
    }

    /** Waits until the peer has placed everything that was posted. */
    private void flush(Channel<DemoMessage> channel) {
        long begin = System.nanoTime();
        await(channel.submit(WorkRequest.flush(channel.connection())));
        flushNanos = System.nanoTime() - begin;
    }

    private static void await(CompletableFuture<WorkCompletion> work) {
        work.join().orThrow();
    }

    private void progress(String what, long done, long size) {
        if (done / OPERATION % UNDER_WAY == 0) {
            ProcessFacts.tell(out(), ProcessFacts.PROGRESS, what + " " + done * 100 / size + " %");
        }
    }
}
