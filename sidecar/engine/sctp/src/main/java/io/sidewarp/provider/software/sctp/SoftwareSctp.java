// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.net.sctp.SctpOverUdp;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.SctpStack;
import io.sidewarp.engine.net.sctp.usrsctp.Usrsctp;
import io.sidewarp.provider.software.SoftwareDevice;
import io.sidewarp.provider.software.SoftwareLowerLayer;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Supplier;

/**
 * SCTP as a lower layer of the software provider (RFC 5043).
 *
 * @param stack supplies the SCTP stack, at the first use
 * @param addresses addresses of this machine that form one SCTP endpoint. The first address is preferred. With more
 *     than one address, associations are multihomed if the stack supports it. Connections begin at this endpoint. A
 *     listener without an address, or with one of these addresses, listens there. Without addresses, an endpoint has
 *     the one address that it needs (RFC 5043 section 7.2)
 */
public record SoftwareSctp(
        Supplier<SctpStack> stack, List<InetAddress> addresses, SctpSettings settings, AdaptationSettings adaptation)
        implements SoftwareLowerLayer.Factory {

    public SoftwareSctp {
        addresses = List.copyOf(addresses);
    }

    /** Returns usrsctp in UDP, with the default settings and an address for each endpoint. */
    public static SoftwareSctp defaults() {
        return of(() -> new SctpOverUdp(Usrsctp.load()));
    }

    /** Returns a stack with the default settings and an address for each endpoint. */
    public static SoftwareSctp of(Supplier<SctpStack> stack) {
        return new SoftwareSctp(stack, List.of(), SctpSettings.defaults(), AdaptationSettings.defaults());
    }

    /** Returns a copy with other settings of the stack. */
    public SoftwareSctp withSettings(SctpSettings changed) {
        return new SoftwareSctp(stack, addresses, changed, adaptation);
    }

    /** Returns a copy with other addresses of the endpoint. */
    public SoftwareSctp withAddresses(List<InetAddress> changed) {
        return new SoftwareSctp(stack, changed, settings, adaptation);
    }

    @Override
    public SoftwareLowerLayer open(SoftwareDevice device, EventLoop loop) {
        return new SctpNetwork(device, this, loop);
    }
}
