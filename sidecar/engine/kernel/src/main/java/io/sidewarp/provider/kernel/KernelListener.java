// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.VerbsListener;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listener of the connection manager. Belongs to the loop. */
final class KernelListener implements VerbsListener {

    private static final Logger LOG = LoggerFactory.getLogger(KernelListener.class);

    private final KernelDevice device;
    private final ListenAttributes attributes;
    private final ConnectionRequestHandler handler;
    private final Set<KernelConnectionRequest> waiting = new HashSet<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private @Nullable CmId id;
    private volatile InetSocketAddress local = InetSocketAddress.createUnresolved("unbound", 0);

    KernelListener(KernelDevice device, ListenAttributes attributes, ConnectionRequestHandler handler) {
        this.device = device;
        this.attributes = attributes;
        this.handler = handler;
    }

    CompletableFuture<VerbsListener> listen(InetSocketAddress address) {
        CompletableFuture<VerbsListener> result = new CompletableFuture<>();
        device.loop().execute(() -> {
            Optional<String> problem = attributes.llp() == Llp.TCP ? bind(address) : device.absence(attributes.llp());
            if (problem.isEmpty()) {
                result.complete(this);
            } else {
                device.onClosed(this);
                result.completeExceptionally(new ConnectionFailedException(
                        ConnectionFailedException.Kind.UNREACHABLE,
                        "cannot listen at " + address + ": " + problem.get()
                                + "; choose an address of the device's interface and a free port"));
            }
        });
        return result;
    }

    /** @return the reason for a failure, or empty */
    private Optional<String> bind(InetSocketAddress address) {
        if (address.isUnresolved()) {
            return Optional.of("the name cannot be resolved");
        }
        try {
            CmId created = device.channel().create(this::onEvent);
            int result = created.bind(address);
            if (result == 0) {
                result = created.listen(attributes.backlog());
            }
            if (result < 0) {
                created.destroy();
                return Optional.of(KernelErrors.describe(result));
            }
            local = created.localAddress();
            id = created;
            return Optional.empty();
        } catch (IllegalStateException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private void onEvent(CmEvent event) {
        if (event.kind() != CmEvent.Kind.CONNECT_REQUEST) {
            return;
        }
        KernelConnectionRequest request = new KernelConnectionRequest(device, this, event);
        if (!request.isOfDevice() || waiting.size() >= attributes.backlog()) {
            request.refuseOnLoop();
            return;
        }
        waiting.add(request);
        request.startTimer(attributes.startupTimeout());
        try {
            handler.onConnectionRequest(request);
        } catch (RuntimeException | Error e) {
            LOG.error("the handler of connection requests failed; the peer is refused", e);
            request.refuseOnLoop();
        }
    }

    /** Removes a request that was answered or has lapsed. */
    void onAnswered(KernelConnectionRequest request) {
        waiting.remove(request);
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public OptionalInt udpPort() {
        return OptionalInt.empty();
    }

    @Override
    public CompletableFuture<Void> close() {
        device.loop().execute(() -> {
            Set.copyOf(waiting).forEach(KernelConnectionRequest::refuseOnLoop);
            CmId current = id;
            id = null;
            if (current != null) {
                current.destroy();
            }
            device.onClosed(this);
            closed.complete(null);
        });
        return closed.copy();
    }
}
