// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoopGroup;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.sctp.SctpOverUdp;
import io.sidewarp.engine.net.sctp.SctpStack;
import io.sidewarp.engine.net.sctp.usrsctp.Usrsctp;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Carries out verbs in this process. Needs no RDMA hardware, no kernel module and no privilege. */
public final class SoftwareProvider implements RdmaProvider {

    /** The {@link #name()} of this provider. */
    public static final String NAME = "software";

    private final SoftwareSettings settings;
    private final SoftwareEvents events;
    private final EngineLoops loops;
    private final Supplier<SctpStack> sctp;
    private final List<InetAddress> sctpAddresses;

    private SoftwareProvider(Builder builder) {
        this.settings = builder.settings;
        this.events = builder.events;
        this.sctp = builder.sctp;
        this.sctpAddresses = builder.sctpAddresses;
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
        return new SoftwareDevice(settings, loops, events, sctp, sctpAddresses);
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

        private Supplier<SctpStack> sctp = () -> new SctpOverUdp(Usrsctp.load());
        private List<InetAddress> sctpAddresses = List.of();

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

        /** Sets the supplier of the SCTP stack, which is called at the first use. The default is usrsctp in UDP. */
        public Builder sctp(Supplier<SctpStack> stack) {
            sctp = stack;
            return this;
        }

        /**
         * Sets addresses of this machine that form one SCTP endpoint. The first address is preferred. With more than
         * one address, associations are multihomed if the stack supports it. Connections begin at this endpoint. A
         * listener without an address, or with one of these addresses, listens there. Without this setting, an endpoint
         * has the one address that it needs (RFC 5043 section 7.2).
         */
        public Builder sctpAddresses(List<InetAddress> addresses) {
            sctpAddresses = List.copyOf(addresses);
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
