// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** One side of an MPA connection with recorders as its transport, Consumer and DDP. */
final class Endpoint implements MpaStartupListener {

    final FakeTransport transport = new FakeTransport();
    final MpaConnection mpa;
    final RecordingUpper upper;
    final List<MpaStartup> requests = new ArrayList<>();
    final List<MpaStartup> established = new ArrayList<>();
    final List<MpaStartup> rejections = new ArrayList<>();
    final List<String> unenhanced = new ArrayList<>();
    final List<LlpError> failures = new ArrayList<>();
    final List<String> messages = new ArrayList<>();
    Runnable onRequest = () -> {};
    Runnable onEstablished;
    private static final WireBuffer OUTPUT = WireBuffer.allocate(128 * 1024);

    Endpoint(MpaRole role, MpaOptions options) {
        mpa = new MpaConnection(role, options, transport, this);
        upper = new RecordingUpper(mpa);
        onEstablished = () -> mpa.attach(upper);
        mpa.start();
    }

    static Endpoint initiator(MpaOptions options) {
        return new Endpoint(MpaRole.INITIATOR, options);
    }

    /** A Responder that accepts every Request with the same options. */
    static Endpoint responder(MpaOptions options) {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, options);
        endpoint.onRequest = () -> endpoint.mpa.accept(options);
        return endpoint;
    }

    /** An Initiator in Full Operation with a peer of the given M and C bits. */
    static Endpoint establishedInitiator(MpaOptions options, boolean peerMarkers, boolean peerCrc) {
        Endpoint endpoint = initiator(options);
        endpoint.output();
        endpoint.input(Frames.reply(peerMarkers, peerCrc));
        return endpoint;
    }

    /** A Responder in Full Operation with a peer of the given M and C bits; its Reply is out. */
    static Endpoint establishedResponder(MpaOptions options, boolean peerMarkers, boolean peerCrc) {
        Endpoint endpoint = responder(options);
        endpoint.input(Frames.request(peerMarkers, peerCrc));
        endpoint.output();
        return endpoint;
    }

    /** Passes octets to MPA as one batch of input. */
    int input(byte[] octets) {
        int taken = mpa.receive(WireBuffer.copyOf(octets), 0, octets.length);
        mpa.receiveDone();
        return taken;
    }

    /** Passes octets to MPA in pieces that end at the given places. */
    void inputInPieces(byte[] octets, int... ends) {
        WireBuffer buffer = WireBuffer.copyOf(octets);
        int from = 0;
        for (int end : ends) {
            mpa.receive(buffer, from, end - from);
            from = end;
        }
        mpa.receive(buffer, from, octets.length - from);
        mpa.receiveDone();
    }

    /** Passes octets to MPA in pieces that end at the given places, as a transport that keeps what is not taken. */
    void inputKept(byte[] octets, int... ends) {
        WireBuffer stream = WireBuffer.copyOf(octets);
        WireBuffer buffer = WireBuffer.allocate(octets.length);
        int from = 0;
        int to = 0;
        int read = 0;
        for (int end : IntStream.concat(Arrays.stream(ends), IntStream.of(octets.length))
                .toArray()) {
            buffer.putBytes(to, stream, read, end - read);
            to += end - read;
            read = end;
            int taken = mpa.receive(buffer, from, to - from, true);
            from += taken;
            assertThat(mpa.incompleteFpdu() == 0).as("nothing is kept").isEqualTo(from == to);
            assertThat(mpa.incompleteFpdu()).as("of which is kept").isGreaterThanOrEqualTo(to - from);
            if (from == to) {
                from = 0;
                to = 0;
            }
        }
        mpa.receiveDone();
    }

    /** Pulls output as long as MPA asks for it. */
    byte[] output() {
        return output(OUTPUT.capacity());
    }

    /** Pulls output as long as MPA asks for it, offering the given room at a time. */
    byte[] output(int room) {
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        while (transport.outputRequested) {
            transport.outputRequested = false;
            int length = mpa.produce(OUTPUT, 0, room);
            byte[] piece = new byte[length];
            OUTPUT.getBytes(0, piece, 0, length);
            octets.writeBytes(piece);
            mpa.transferred(length);
        }
        return octets.toByteArray();
    }

    List<String> upperEvents() {
        return upper.events.stream()
                .filter(event -> !event.equals("inputDone") && !event.equals("transferred"))
                .toList();
    }

    @Override
    public void onRequest(MpaStartup request) {
        requests.add(request);
        onRequest.run();
    }

    @Override
    public void onEstablished(MpaStartup agreed) {
        established.add(agreed);
        onEstablished.run();
    }

    @Override
    public void onRejected(MpaStartup reply) {
        rejections.add(reply);
    }

    @Override
    public void onUnenhancedPeer(String message) {
        unenhanced.add(message);
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        failures.add(reason);
        messages.add(message);
    }
}
