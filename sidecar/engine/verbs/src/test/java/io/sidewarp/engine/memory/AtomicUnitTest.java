// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.testing.TestMemory;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AtomicUnitTest {

    private static final int ROUNDS = 100_000;

    @AutoClose
    private final TestMemory memory = new TestMemory();

    private final AtomicUnit unit = new AtomicUnit();
    private final MemoryRegion region = memory.region(64);
    private final RandomGenerator random =
            RandomGeneratorFactory.of("L64X128MixRandom").create(7306);

    @ParameterizedTest(name = "{0} + {1} in the fields {2} is {3}")
    @Requirement("EXT-5.1.1-01")
    @CsvSource({
        "0000000000000005, 0000000000000003, 0000000000000000, 0000000000000008",
        "FFFFFFFFFFFFFFFF, 0000000000000001, 0000000000000000, 0000000000000000",
        "FFFFFFFFFFFFFFFF, 0000000000000001, 8000000000000000, 0000000000000000",
        "FFFFFFFFFFFFFFFF, 0000000100000001, 8000000080000000, 0000000000000000",
        "00000000FFFFFFFF, 0000000000000001, 0000000080000000, 0000000000000000",
        "00000000FFFFFFFF, 0000000000000001, 0000000000000000, 0000000100000000",
        "AAAAAAAAAAAAAAAA, FFFFFFFFFFFFFFFF, FFFFFFFFFFFFFFFF, 5555555555555555",
        "FF00FF00FF00FF00, 0101010101010101, 8080808080808080, 0001000100010001",
        "7FFFFFFFFFFFFFFF, 0000000000000001, 0000000000000001, 7FFFFFFFFFFFFFFE"
    })
    void fieldsAreAddedWithoutCarryFromOneToTheNext(String original, String add, String mask, String sum)
            throws RegionFault {
        TestMemory.putWord(region, 8, word(original));

        long returned = unit.fetchAdd(region, 8, word(add), word(mask));

        assertThat(returned).isEqualTo(word(original));
        assertThat(TestMemory.getWord(region, 8)).isEqualTo(word(sum));
    }

    @Test
    @Requirement("EXT-5.1.1-01")
    void additionDoesWhatTheRfcSaysBitByBit() {
        for (int i = 0; i < ROUNDS; i++) {
            long original = random.nextLong();
            long add = random.nextLong();
            long mask = randomMask();

            assertThat(AtomicUnit.addFields(original, add, mask)).isEqualTo(bitByBit(original, add, mask));
        }
    }

    /** The pseudocode of RFC 7306 section 5.1.1. */
    private static long bitByBit(long original, long addData, long addMask) {
        long bitLocation = 1;
        long carry = 0;
        long result = 0;
        for (int bit = 0; bit <= 63; bit++) {
            if (bit != 0) {
                bitLocation = bitLocation << 1;
            }
            long val1 = (original & bitLocation) >>> bit;
            long val2 = (addData & bitLocation) >>> bit;
            long sum = carry + val1 + val2;
            carry = (sum & 2) >> 1;
            sum = sum & 1;
            if (sum != 0) {
                result |= bitLocation;
            }
            carry = carry != 0 && (addMask & bitLocation) == 0 ? 1 : 0;
        }
        return result;
    }

    @Test
    @Requirement("EXT-5.1.2-01")
    void aSwapReplacesTheMaskedBitsExactlyWhenTheMaskedBitsAreEqual() throws RegionFault {
        int swapped = 0;
        for (int i = 0; i < ROUNDS; i++) {
            long original = random.nextLong();
            long compareMask = randomMask();
            long compare = random.nextBoolean() ? original ^ (random.nextLong() & ~compareMask) : random.nextLong();
            long swap = random.nextLong();
            long swapMask = randomMask();
            TestMemory.putWord(region, 16, original);

            long returned = unit.compareSwap(region, 16, compare, compareMask, swap, swapMask);

            boolean equal = ((compare ^ original) & compareMask) == 0;
            swapped += equal ? 1 : 0;
            assertThat(returned).isEqualTo(original);
            assertThat(TestMemory.getWord(region, 16))
                    .isEqualTo(equal ? original & ~swapMask | swap & swapMask : original);
        }
        assertThat(swapped).isBetween(ROUNDS / 10, ROUNDS * 9 / 10);
    }

    @Test
    @Requirement("EXT-5.1.2-01")
    void aCompareMaskOfZeroSwapsUnconditionally() throws RegionFault {
        TestMemory.putWord(region, 0, 0x1122334455667788L);

        long returned = unit.compareSwap(region, 0, -1L, 0, 0xAAAAAAAAAAAAAAAAL, 0x00000000FFFFFFFFL);

        assertThat(returned).isEqualTo(0x1122334455667788L);
        assertThat(TestMemory.getWord(region, 0)).isEqualTo(0x11223344AAAAAAAAL);
    }

    @Test
    void nothingButTheWordChanges() throws RegionFault {
        unit.fetchAdd(region, 24, -1L, 0);

        byte[] octets = TestMemory.get(region);
        for (int i = 0; i < octets.length; i++) {
            assertThat(octets[i]).isEqualTo((byte) (i >= 24 && i < 32 ? 0xFF : 0));
        }
    }

    @Test
    void memoryThatIsGoneIsAFaultOfItsRegion() {
        memory.deregister(region);

        assertThatExceptionOfType(RegionFault.class)
                .isThrownBy(() -> unit.fetchAdd(region, 0, 1, 0))
                .extracting(RegionFault::region)
                .isSameAs(region);
    }

    /** None, all, few or many bits. */
    private long randomMask() {
        return switch (random.nextInt(5)) {
            case 0 -> 0;
            case 1 -> -1L;
            case 2 -> 1L << random.nextInt(Long.SIZE) | 0x80;
            default -> random.nextLong();
        };
    }

    private static long word(String digits) {
        return Long.parseUnsignedLong(digits, 16);
    }
}
