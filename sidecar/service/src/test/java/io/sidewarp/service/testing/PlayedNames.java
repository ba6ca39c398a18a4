// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Names for which no DNS answers until a test makes them unknown, and names with addresses that a test sets. */
public final class PlayedNames extends InetAddressResolverProvider {

    private static final String DOMAIN = ".unanswered.test";
    private static final String AT = "at.";
    private static final String ADDRESSES = ".addresses.test";
    private static final AtomicInteger DOMAINS = new AtomicInteger();
    private static final Set<String> ASKED = ConcurrentHashMap.newKeySet();
    private static volatile CountDownLatch answers = new CountDownLatch(1);

    /** The end of names for which nobody answers from now on. It is a new one, as Java remembers unknown names. */
    public static String begin() {
        ASKED.clear();
        answers = new CountDownLatch(1);
        return "." + DOMAINS.incrementAndGet() + DOMAIN;
    }

    /** All of them are unknown from now on. */
    public static void end() {
        answers.countDown();
    }

    /** The names that were asked for since the beginning. */
    public static Set<String> asked() {
        return ASKED;
    }

    /** A name of these IPv4 addresses, in this order. */
    public static String of(String... addresses) {
        return AT + String.join("_", addresses) + ADDRESSES;
    }

    @Override
    public InetAddressResolver get(Configuration configuration) {
        return new Resolver(configuration.builtinResolver());
    }

    @Override
    public String name() {
        return "played names";
    }

    private record Resolver(InetAddressResolver others) implements InetAddressResolver {

        @Override
        public Stream<InetAddress> lookupByName(String host, LookupPolicy policy) throws UnknownHostException {
            if (host.endsWith(ADDRESSES)) {
                String addresses = host.substring(AT.length(), host.length() - ADDRESSES.length());
                return Stream.of(addresses.split("_")).map(InetAddress::ofLiteral);
            }
            if (!host.endsWith(DOMAIN)) {
                return others.lookupByName(host, policy);
            }
            ASKED.add(host);
            try {
                answers.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new UnknownHostException(host);
        }

        @Override
        public String lookupByAddress(byte[] address) throws UnknownHostException {
            return others.lookupByAddress(address);
        }
    }
}
