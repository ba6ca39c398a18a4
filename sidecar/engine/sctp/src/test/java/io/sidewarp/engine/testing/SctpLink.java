// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.Negotiation;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.llp.sctp.AssociationListener;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.llp.sctp.DdpSessionListener;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.EarlyBudget;
import io.sidewarp.engine.llp.sctp.SessionOptions;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.RtrKind;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * One session of the DDP adaptation on an association in memory. When shaken, the association delivers messages in any
 * order, as SCTP does with unordered messages.
 */
public final class SctpLink implements Link {

    private final Node left;
    private final Node right;

    private SctpLink(
            SessionOptions options,
            Function<LowerLayer, ? extends UpperLayer> leftUpper,
            Function<LowerLayer, ? extends UpperLayer> rightUpper) {
        left = new Node(true, options, leftUpper);
        right = new Node(false, options, rightUpper);
        SctpPipe.connect(left.transport, right.transport);
    }

    /** Links whose sessions begin with the messages of RFC 5043. */
    public static Link.Type type() {
        return type(options(false, false));
    }

    /** Links whose sessions begin with the enhanced messages of RFC 6581, in the peer-to-peer model. */
    public static Link.Type enhancedType() {
        return type(options(true, true));
    }

    private static SessionOptions options(boolean enhanced, boolean peerToPeer) {
        return new SessionOptions(
                new byte[0],
                enhanced,
                new Negotiation.Terms(16, 16, true, peerToPeer, List.of(RtrKind.WRITE, RtrKind.READ, RtrKind.SEND)));
    }

    private static Link.Type type(SessionOptions options) {
        return (leftUpper, rightUpper) -> {
            SctpLink link = new SctpLink(options, leftUpper, rightUpper);
            OptionalInt ddp = OptionalInt.of(DdpAssociation.ADAPTATION_INDICATION);
            link.right.association.onEstablished(4, 4, ddp);
            link.left.association.onEstablished(4, 4, ddp);
            link.run();
            if (!link.left.open || !link.right.open) {
                throw new AssertionError("the session did not begin");
            }
            return link;
        };
    }

    private Node node(Side side) {
        return side == Side.LEFT ? left : right;
    }

    @Override
    public LowerLayer end(Side side) {
        return node(side).session.lowerLayer();
    }

    /** Messages that a side has sent, as in {@code 0:17 00 00 00 01}. */
    public List<String> sent(Side side) {
        return node(side).transport.log().stream()
                .map(SctpPipe.Message::toString)
                .toList();
    }

    /** {@inheritDoc} SCTP permits no less than 516. */
    @Override
    public void mulpdu(Side side, int octets) {
        node(side).transport.maxMessage(octets + 2);
    }

    @Override
    public void shake(RandomGenerator random) {
        left.transport.shake(random);
        right.transport.shake(random);
    }

    @Override
    public boolean turn(Side side) {
        return node(side).transport.turn();
    }

    @Override
    public void lose(String cause) {
        left.transport.lose(cause);
        right.transport.lose(cause);
    }

    /** One side: its association, and the one session on it. */
    private static final class Node implements AssociationListener, DdpSessionListener {

        private static final AdaptationSettings SETTINGS = AdaptationSettings.defaults();

        private final SctpPipe transport = new SctpPipe();
        private final DdpAssociation association;
        private final boolean initiator;
        private final SessionOptions options;
        private final Function<LowerLayer, ? extends UpperLayer> factory;
        private DdpStreamSession session;
        private boolean open;

        Node(boolean initiator, SessionOptions options, Function<LowerLayer, ? extends UpperLayer> factory) {
            this.initiator = initiator;
            this.options = options;
            this.factory = factory;
            association = new DdpAssociation(transport, SETTINGS, EarlyBudget.ofDevice(SETTINGS), initiator, this);
            transport.bind(association);
        }

        @Override
        public void onEstablished() {
            if (initiator) {
                session = association.initiate(options, this);
            }
        }

        @Override
        public boolean onInitiate(DdpStreamSession asked, SessionStartup startup) {
            session = asked;
            asked.listen(this);
            asked.accept(options);
            return true;
        }

        @Override
        public void onEstablished(SessionStartup agreed) {
            open = true;
            UpperLayer upper = factory.apply(session.lowerLayer());
            session.attach(upper);
            if (upper instanceof RdmapStream stream) {
                if (agreed.rtr() != null) {
                    stream.indicateReady(agreed.rtr());
                } else if (agreed.rtrBySend()) {
                    stream.expectReadySend();
                }
            }
        }

        @Override
        public void onIdle() {
            if (initiator) {
                transport.shutdown();
            }
        }

        @Override
        public void onClosed(boolean graceful, String cause) {}

        @Override
        public void onRejected(SessionStartup reply) {
            throw new AssertionError("the peer rejected");
        }

        @Override
        public void onFailed(boolean refused, String message) {
            throw new AssertionError(message);
        }
    }
}
