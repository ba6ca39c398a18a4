// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.Session;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The passive end of tests. Offers memory, and takes or answers Sends. Serves any number of clients. */
public final class PerfServer {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Longer than the longest measurement of a client. */
    private static final Duration TEST_PATIENCE = Duration.ofDays(8);

    private final Session session;
    private final ConnectionFlags flags;
    private final ProcessCpu sidecar;
    private final QueueOptions queueOptions;
    private final SecureRandom random = new SecureRandom();
    private final Map<Long, PerfTest> tests = new ConcurrentHashMap<>();

    /**
     * @param sidecar the process whose CPU time is reported
     * @param queueOptions path of the work, and how threads wait for completions and for RDMA Writes of a latency test
     */
    public PerfServer(Session session, ConnectionFlags flags, ProcessCpu sidecar, QueueOptions queueOptions) {
        this.session = session;
        this.flags = flags;
        this.sidecar = sidecar;
        this.queueOptions = queueOptions;
    }

    /** Returns the handlers of the service, and of its data connections. */
    public Map<Service, Server.GreetedHandler> handlers() {
        return Map.of(Service.PERF, this::serveTest, Service.PERF_DATA, this::attach);
    }

    private String serveTest(IncomingConnection request, Hello hello) throws Exception {
        return Channel.serve(session, request, Service.PERF, flags, PerfMessage::decode, this::serveTest);
    }

    private String serveTest(Channel<PerfMessage> channel) {
        PerfMessage.Setup setup = channel.receive(PATIENCE, PerfMessage.Setup.class);
        long token = random.nextLong();
        try (PerfTest test = new PerfTest(session, flags, setup, queueOptions)) {
            tests.put(token, test);
            try {
                channel.send(new PerfMessage.Ready(token, test.address(), test.receives()));
                return measure(channel, test, setup.plan());
            } finally {
                tests.remove(token);
            }
        }
    }

    private String measure(Channel<PerfMessage> channel, PerfTest test, PerfPlan plan) {
        // The client warms up before this message.
        channel.receive(TEST_PATIENCE, PerfMessage.Begin.class);
        test.check();
        var processAtBegin = ProcessCpu.own().nanos();
        var sidecarAtBegin = sidecar.nanos();
        channel.send(new PerfMessage.Begin());
        channel.receive(TEST_PATIENCE, PerfMessage.End.class);
        test.check();
        long processNanos = ProcessCpu.own().since(processAtBegin);
        long sidecarNanos = sidecar.since(sidecarAtBegin);
        channel.send(new PerfMessage.End());
        PerfMessage.Done done = channel.receive(PATIENCE, PerfMessage.Done.class);
        test.stop();
        long received = plan.operation() == Operation.SEND ? test.awaitReceived(done.messages()) : 0;
        long wrong = test.wrongMessages();
        channel.send(new PerfMessage.Report(processNanos, sidecarNanos, received, wrong));
        channel.awaitPeerClose(PATIENCE);
        return plan.operation() + (plan.latency() ? " latency" : "") + ", " + done.messages() + " messages of "
                + Sizes.format(plan.size()) + (wrong == 0 ? "" : ", " + wrong + " WRONG in memory");
    }

    /** Accepts a data connection. The line about the test reports it. */
    private String attach(IncomingConnection request, Hello hello) {
        if (hello.parameters().remaining() < PerfMessage.DataHello.LENGTH) {
            Server.reject(request, "the request of a data connection is too short");
            return "";
        }
        PerfMessage.DataHello data = PerfMessage.DataHello.decode(hello.parameters());
        PerfTest test = tests.get(data.token());
        if (test == null) {
            Server.reject(request, "this test does not exist, or has ended");
        } else {
            test.attach(request, data.index());
        }
        return "";
    }
}
