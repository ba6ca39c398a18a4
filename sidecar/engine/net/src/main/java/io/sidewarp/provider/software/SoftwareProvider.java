// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoopGroup;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import org.jspecify.annotations.Nullable;

/** Carries out verbs in this process. Needs no RDMA hardware, no kernel module and no privilege. */
public final class SoftwareProvider implements RdmaProvider {

    /** The {@link #name()} of this provider. */
    public static final String NAME = "software";

    private final SoftwareSettings settings;
    private final SoftwareEvents events;
    private final EngineLoops loops;
    private final SoftwareLowerLayer.@Nullable Factory sctp;
    private final TlsIdentity identity;

    private SoftwareProvider(Builder builder) {
        this.identity = builder.identity;
        this.settings = builder.settings;
        this.events = builder.events;
        this.sctp = builder.sctp;
        EventLoopGroup shared = builder.group;
        this.loops = shared == null
                ? EngineLoops.create(builder.eventLoops, settings.net())
                : EngineLoops.shared(shared, settings.net());
    }

    public static Builder builder() {
        return new Builder();
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Device open() {
        return new SoftwareDevice(settings, loops, events, sctp, identity);
    }

    @Override
    public void close() {
        loops.close();
    }

    /** Settings of a new provider. */
    public static final class Builder {

        private SoftwareSettings settings = SoftwareSettings.defaults();
        private SoftwareEvents events = SoftwareEvents.NONE;
        private @Nullable EventLoopGroup group;
        private int eventLoops = Math.min(2, Runtime.getRuntime().availableProcessors());

        private SoftwareLowerLayer.@Nullable Factory sctp;
        private TlsIdentity identity = TlsIdentity.NONE;

        private Builder() {}

        public Builder settings(SoftwareSettings newSettings) {
            settings = newSettings;
            return this;
        }

        public Builder events(SoftwareEvents newEvents) {
            events = newEvents;
            return this;
        }

        /** Uses event loops that somebody else owns, epoll or NIO. Connections then run on these loops as well. */
        public Builder eventLoopGroup(EventLoopGroup shared) {
            group = shared;
            return this;
        }

        /** Adds SCTP as a second lower layer. Without this call, connections use TCP only. */
        public Builder sctp(SoftwareLowerLayer.Factory factory) {
            sctp = factory;
            return this;
        }

        /** Sets the source of the identity for TLS. Without this call, connections use no TLS. */
        public Builder identity(TlsIdentity source) {
            identity = source;
            return this;
        }

        /** Sets the number of event loops of this provider, if none are shared. */
        public Builder eventLoops(int count) {
            eventLoops = count;
            return this;
        }

        public SoftwareProvider build() {
            return new SoftwareProvider(this);
        }
    }
}
