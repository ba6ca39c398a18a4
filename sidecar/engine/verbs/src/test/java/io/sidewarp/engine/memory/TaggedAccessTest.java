// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static io.sidewarp.engine.memory.AccessRight.REMOTE_INVALIDATE;
import static io.sidewarp.engine.memory.AccessRight.REMOTE_READ;
import static io.sidewarp.engine.memory.AccessRight.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaggedAccessTest {

    private static final long BASE = 1000;
    private static final int LENGTH = 4096;
    private static final long QP = 3;

    private final Pd domain = new Pd(1);
    private final RegionUser user = new RegionUser(domain, QP);
    private final ManagedBacking memory = ManagedBacking.allocate(LENGTH);

    @AfterEach
    void free() {
        memory.close();
    }

    @Test
    void anExactFitIsAllowed() {
        assertThat(check(region(BASE, 0, REMOTE_WRITE), BASE, LENGTH)).isEqualTo(AccessCheck.OK);
    }

    @ParameterizedTest
    @Requirement({"RDMAP-3.2-05", "RDMAP-8.1.1-03", "DDP-7.1-07"})
    @CsvSource({
        "1000, 1, OK",
        "999, 1, BOUNDS",
        "999, 4097, BOUNDS",
        "0, 1, BOUNDS",
        "5095, 1, OK",
        "5096, 1, BOUNDS",
        "5095, 2, BOUNDS",
        "1000, 4097, BOUNDS",
        "1001, 4096, BOUNDS",
        "1000, 9223372036854775807, BOUNDS",
        "-1, 1, BOUNDS",
        "-9223372036854775808, 1, BOUNDS",
        "-9223372036854774808, 1, BOUNDS"
    })
    void noOctetOutsideOfTheRegionIsReached(long taggedOffset, long length, AccessCheck expected) {
        assertThat(check(region(BASE, 0, REMOTE_WRITE), taggedOffset, length)).isEqualTo(expected);
    }

    @ParameterizedTest
    @Requirement("DDP-7.1-08")
    @CsvSource({
        // Tagged offsets as signed numbers: -8 is 2^64-8.
        "-8, 16, WRAP",
        "-1, 2, WRAP",
        "-8, 9, WRAP",
        "-8, 8, OK",
        "-1, 1, OK",
        "-4096, 4096, OK",
        "-4096, 4097, WRAP",
        "-4097, 1, BOUNDS",
        "-9223372036854775808, 9223372036854775807, BOUNDS",
        "0, 1, BOUNDS"
    })
    void aRangeMayEndAtTwoToThe64ButNotBeyond(long taggedOffset, long length, AccessCheck expected) {
        assertThat(check(region(-LENGTH, 0, REMOTE_WRITE), taggedOffset, length))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"-2049, BOUNDS", "-2048, OK", "-1, OK", "0, OK", "2047, OK", "2048, BOUNDS"})
    void taggedOffsetsAreUnsigned(long fromTwoToThe63, AccessCheck expected) {
        MemoryRegion straddling = region(Long.MIN_VALUE - 2048, 0, REMOTE_WRITE);

        assertThat(check(straddling, Long.MIN_VALUE + fromTwoToThe63, 1)).isEqualTo(expected);
    }

    @Test
    @Requirement("DDP-7.1-06")
    void anUnknownStagIsInvalid() {
        assertThat(check(null, BASE, 1)).isEqualTo(AccessCheck.INVALID_STAG);
    }

    @Test
    @Requirement("DDP-7.1-06")
    void anInvalidatedStagIsInvalid() {
        MemoryRegion region = region(BASE, 0, REMOTE_WRITE);

        region.invalidate();

        assertThat(check(region, BASE, 1)).isEqualTo(AccessCheck.INVALID_STAG);
    }

    @Test
    void aFaultedRegionsStagIsInvalid() {
        MemoryRegion region = region(BASE, 0, REMOTE_WRITE);

        region.markFaulted();

        assertThat(check(region, BASE, 1)).isEqualTo(AccessCheck.INVALID_STAG);
    }

    @Test
    @Requirement({"RDMAP-8.1.1-01", "DDP-7.1-06"})
    void aStreamOfAnotherDomainHasNoAccess() {
        MemoryRegion region = region(BASE, 0, REMOTE_WRITE);
        Pd sameNumber = new Pd(domain.id());

        assertThat(TaggedAccess.check(region, new RegionUser(sameNumber, QP), REMOTE_WRITE.bit(), BASE, 1))
                .isEqualTo(AccessCheck.NOT_ASSOCIATED);
    }

    @Test
    @Requirement({"RDMAP-3.2-05", "RDMAP-8.1.1-02", "DDP-8.3-02"})
    void aStagOfOneStreamIsUnusableOnAnother() {
        MemoryRegion region = region(BASE, QP, REMOTE_WRITE);

        assertThat(check(region, BASE, 1)).isEqualTo(AccessCheck.OK);
        assertThat(TaggedAccess.check(region, new RegionUser(domain, QP + 1), REMOTE_WRITE.bit(), BASE, 1))
                .isEqualTo(AccessCheck.NOT_ASSOCIATED);
    }

    @Test
    void aStagOfOnePeerIsUnusableForOtherPeersAndWithoutVerifiedPeer() {
        String cart = "spiffe://example.org/ns/shop/sa/cart";
        MemoryRegion region =
                new MemoryRegion(1, domain, memory, new RegionAttributes(EnumSet.of(REMOTE_WRITE), BASE, cart), 0);

        assertThat(check(new RegionUser(domain, QP, cart), region)).isEqualTo(AccessCheck.OK);
        assertThat(check(new RegionUser(domain, QP + 1, cart), region)).isEqualTo(AccessCheck.OK);
        for (String other : List.of("", cart + "s", cart.substring(1), "spiffe://example.net/ns/shop/sa/cart")) {
            assertThat(check(new RegionUser(domain, QP, other), region)).isEqualTo(AccessCheck.NOT_ASSOCIATED);
        }
    }

    private static AccessCheck check(RegionUser stream, MemoryRegion region) {
        return TaggedAccess.check(region, stream, REMOTE_WRITE.bit(), BASE, 1);
    }

    @Test
    @Requirement("RDMAP-8.1.1-05")
    void onlyTheRightsThatWereGivenAreGranted() {
        for (Set<AccessRight> given : Set.of(
                EnumSet.noneOf(AccessRight.class),
                EnumSet.of(REMOTE_READ),
                EnumSet.of(REMOTE_WRITE),
                EnumSet.of(REMOTE_READ, REMOTE_WRITE))) {
            MemoryRegion region = region(BASE, 0, given.toArray(AccessRight[]::new));
            for (AccessRight wanted : EnumSet.of(REMOTE_READ, REMOTE_WRITE)) {
                assertThat(TaggedAccess.check(region, user, wanted.bit(), BASE, 1))
                        .isEqualTo(given.contains(wanted) ? AccessCheck.OK : AccessCheck.NO_RIGHT);
            }
        }
    }

    @Test
    void theFirstFailingCheckDecides() {
        MemoryRegion region = region(BASE, QP, REMOTE_READ);
        Pd other = new Pd(2);

        assertThat(TaggedAccess.check(region, new RegionUser(other, QP), REMOTE_WRITE.bit(), -1, 2))
                .isEqualTo(AccessCheck.NOT_ASSOCIATED);
        assertThat(TaggedAccess.check(region, user, REMOTE_WRITE.bit(), -1, 2)).isEqualTo(AccessCheck.NO_RIGHT);
        assertThat(TaggedAccess.check(region, user, REMOTE_READ.bit(), -1, 2)).isEqualTo(AccessCheck.WRAP);
        assertThat(TaggedAccess.check(region, user, REMOTE_READ.bit(), -1, 1)).isEqualTo(AccessCheck.BOUNDS);
        region.invalidate();
        assertThat(TaggedAccess.check(region, new RegionUser(other, QP), REMOTE_WRITE.bit(), -1, 2))
                .isEqualTo(AccessCheck.INVALID_STAG);
    }

    @Test
    void invalidationNeedsItsRightAndTheStream() {
        MemoryRegion region = region(BASE, QP, REMOTE_INVALIDATE);
        int right = REMOTE_INVALIDATE.bit();

        assertThat(TaggedAccess.checkAssociation(region, user, right)).isEqualTo(AccessCheck.OK);
        assertThat(TaggedAccess.checkAssociation(region, new RegionUser(domain, QP + 1), right))
                .isEqualTo(AccessCheck.NOT_ASSOCIATED);
        assertThat(TaggedAccess.checkAssociation(region(BASE, QP, REMOTE_WRITE), user, right))
                .isEqualTo(AccessCheck.NO_RIGHT);
        assertThat(TaggedAccess.checkAssociation(null, user, right)).isEqualTo(AccessCheck.INVALID_STAG);
    }

    private AccessCheck check(MemoryRegion region, long taggedOffset, long length) {
        return TaggedAccess.check(region, user, REMOTE_WRITE.bit(), taggedOffset, length);
    }

    private MemoryRegion region(long base, long queuePair, AccessRight... rights) {
        return new MemoryRegion(0x1234, domain, memory, new RegionAttributes(Set.of(rights), base), queuePair);
    }
}
