// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.verbs.LlpError;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * One endpoint with all layers above TCP. A test drives its TCP with input and output bytes. After each step, checks
 * the invariants that no peer and no application may break.
 */
final class FuzzedConnection implements MpaStartupListener {

    /** Answers of the application to a connection request. */
    enum Answer {
        ACCEPT,
        LATER,
        REJECT
    }

    private static final WireBuffer OUTPUT = WireBuffer.allocate(MpaConnection.MAX_FPDU_LENGTH + 1024);
    /** Turns of output in a row after which an endpoint is taken for one that never rests. */
    private static final int MOST_TURNS = 1000;
    /** Calls of the transport that one octet may cause, and those that any step may cause. */
    private static final int CALLS_PER_OCTET = 4;

    private static final int CALLS_PER_STEP = 64;
    private static final int HEADER_LENGTH = 20;

    private final GuardedRegions regions;
    private final AccountingTransport transport = new AccountingTransport();
    private final WorkLedger ledger = new WorkLedger();
    private final Application application;
    private final OutputJudge judge;
    private final MpaOptions options;
    private final Answer answer;
    private final Consumer<byte[]> onOutput;
    private final MpaConnection mpa;

    private FpduDecoder decoder;
    private byte[] startupOutput = {};
    private MpaStartup agreed;
    private int outcomes;
    private int untaken;
    private boolean pendingRequest;
    private boolean peerReads = true;
    private boolean finReceived;
    private boolean over;

    /**
     * @param onRequest told of each Read Request and Atomic Request that the endpoint sends
     * @param onOutput gets all octets that it sends
     */
    FuzzedConnection(
            GuardedRegions regions,
            MpaRole role,
            MpaOptions options,
            Answer answer,
            Consumer<Segment> onRequest,
            Consumer<byte[]> onOutput) {
        this.regions = regions;
        this.options = options;
        this.answer = answer;
        this.onOutput = onOutput;
        this.application = new Application(regions, ledger);
        this.judge = new OutputJudge(AccountingTransport.EMSS, onRequest);
        this.mpa = new MpaConnection(role, options, transport, this);
        step(0, mpa::start);
    }

    boolean isOver() {
        return over;
    }

    /** Returns whether it has sent all its output in order, with the end. */
    boolean hasSentEnd() {
        return transport.outputShut();
    }

    boolean hasAborted() {
        return transport.aborted();
    }

    WorkLedger ledger() {
        return ledger;
    }

    /** Returns the result of start-up, or null. */
    MpaStartup agreed() {
        return agreed;
    }

    Application application() {
        return application;
    }

    // Events on the connection.

    /** TCP delivers octets, in portions. */
    void receive(byte[] octets, int piece) {
        if (over || finReceived) {
            return;
        }
        step(octets.length, () -> {
            InputWire.deliver(octets, piece, (offset, length) -> mpa.receive(InputWire.buffer(), offset, length));
            mpa.receiveDone();
        });
    }

    void receiveEnd() {
        if (!over && !finReceived) {
            finReceived = true;
            step(0, mpa::receiveEnd);
        }
    }

    void receiveLost() {
        if (!over) {
            over = true;
            step(0, () -> mpa.receiveLost("reset by the peer"));
        }
    }

    void startupTimeout() {
        if (!over) {
            step(0, mpa::startupTimeout);
        }
    }

    /** The peer begins or ceases to read; what is sent meanwhile stays with the socket. */
    void setPeerReads(boolean reads) {
        peerReads = reads;
        if (reads && untaken > 0 && !over) {
            int octets = untaken;
            untaken = 0;
            step(0, () -> mpa.transferred(octets));
        }
    }

    /** The application answers a connection request that it had left. */
    void answer(boolean accept) {
        if (!over && pendingRequest) {
            pendingRequest = false;
            step(0, () -> decide(accept));
        }
    }

    /** The application does something. */
    void act(FuzzInput in) {
        step(0, () -> application.act(in));
    }

    /** The MPA connection goes away, whatever it was doing. */
    void finish() {
        receiveLost();
        ledger.verifyAllCompleted();
        transport.verifyReturned();
        Endpoint endpoint = application.endpoint();
        if (endpoint != null) {
            Violation.unless(endpoint.sendQueue().outstanding() == 0, "the send queue is not empty");
            Violation.unless(endpoint.receiveQueue().outstanding() == 0, "the receive queue is not empty");
        }
    }

    // Effects of an event.

    private void step(int octets, Runnable action) {
        long calls = transport.calls() - CALLS_PER_STEP;
        regions.before();
        ledger.before();
        boolean placing = application.isPlacing();
        action.run();
        regions.after(placing, ledger::covers);
        Violation.unless(
                transport.calls() - calls <= (long) CALLS_PER_OCTET * octets + 2L * CALLS_PER_STEP, "too much work");
        output();
        closeTransport();
        ledger.verifyNotified();
    }

    /** As long as TCP takes octets and there are some. */
    private void output() {
        for (int turns = 0; transport.outputWanted() && canOutput(); turns++) {
            Violation.unless(turns < MOST_TURNS, "the endpoint does not stop sending");
            transport.takeOutputWanted();
            int length = mpa.produce(OUTPUT, 0, OUTPUT.capacity());
            Violation.unless(length >= 0 && length <= OUTPUT.capacity(), "produced " + length + " octets");
            byte[] octets = Octets.of(OUTPUT, 0, length);
            judge(octets);
            onOutput.accept(octets);
            if (length == 0) {
                continue;
            }
            if (peerReads) {
                mpa.transferred(length);
            } else {
                untaken = length;
            }
        }
    }

    private boolean canOutput() {
        return !over && untaken == 0 && !transport.outputShut() && !transport.aborted();
    }

    private void closeTransport() {
        if (over) {
            return;
        }
        if (transport.aborted() || transport.outputShut() && finReceived && untaken == 0) {
            over = true;
            mpa.closed();
        }
    }

    /** The start-up frame comes first, then FPDUs. */
    private void judge(byte[] octets) {
        byte[] fpdus = octets;
        if (decoder == null) {
            startupOutput = Octets.join(startupOutput, octets);
            if (startupOutput.length < HEADER_LENGTH) {
                return;
            }
            int frame = HEADER_LENGTH + ((startupOutput[18] & 0xFF) << 8 | (startupOutput[19] & 0xFF));
            if (startupOutput.length < frame || agreed == null) {
                Violation.unless(startupOutput.length <= frame, "octets follow a start-up frame too early");
                return;
            }
            fpdus = Arrays.copyOfRange(startupOutput, frame, startupOutput.length);
            decoder = new FpduDecoder(agreed.crc(), agreed.sendMarkers(), true, judge::onUlpdu);
        }
        decoder.receive(fpdus);
        Violation.unless(decoder.isComplete(), "output ends inside an FPDU");
    }

    // MpaStartupListener.

    @Override
    public void onRequest(MpaStartup request) {
        pendingRequest = answer == Answer.LATER;
        if (!pendingRequest) {
            decide(answer == Answer.ACCEPT);
        }
    }

    private void decide(boolean accept) {
        if (accept) {
            mpa.accept(options);
        } else {
            mpa.reject(options.withPrivateData(new byte[] {1, 2, 3}));
        }
    }

    @Override
    public void onEstablished(MpaStartup newlyAgreed) {
        outcome();
        agreed = newlyAgreed;
        Endpoint endpoint = new Endpoint(mpa, application.options());
        application.attach(endpoint);
        mpa.attach(endpoint.stream());
        if (newlyAgreed.rtr() != null) {
            endpoint.stream().indicateReady(newlyAgreed.rtr());
        } else if (newlyAgreed.rtrBySend()) {
            endpoint.stream().expectReadySend();
        }
    }

    @Override
    public void onRejected(MpaStartup reply) {
        outcome();
    }

    @Override
    public void onUnenhancedPeer(String message) {
        outcome();
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        outcome();
        Violation.unless(!message.isEmpty(), "start-up failed without a word");
    }

    private void outcome() {
        outcomes++;
        Violation.unless(outcomes == 1, "start-up ended twice");
    }
}
