// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.conformance.Requirement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StagTableTest {

    private final Pd domain = new Pd(1);
    private final ManagedBacking memory = ManagedBacking.allocate(1);

    @AfterEach
    void free() {
        memory.close();
    }

    @Test
    void findsWhatWasAddedAndNothingElse() {
        StagTable table = new StagTable(10);

        MemoryRegion one = table.add(this::region);
        MemoryRegion two = table.add(this::region);

        assertThat(table.lookup(one.stag())).isSameAs(one);
        assertThat(table.lookup(two.stag())).isSameAs(two);
        assertThat(table.lookup(one.stag() + 1)).isNull();
        assertThat(table.regions()).containsExactlyInAnyOrder(one, two);
    }

    @Test
    void doesNotFindWhatWasRemoved() {
        StagTable table = new StagTable(10);
        MemoryRegion region = table.add(this::region);

        assertThat(table.remove(region)).isTrue();

        assertThat(table.lookup(region.stag())).isNull();
        assertThat(table.lookup(0)).isNull();
        assertThat(table.remove(region)).isFalse();
        assertThat(table.size()).isZero();
    }

    @Test
    void findsStagsThatFallOnTheSameSlotAlsoAfterOneOfThemIsRemoved() {
        StagTable table = new StagTable(10, draws(0x4000, 0x8000, 0xC000));
        MemoryRegion one = table.add(this::region);
        MemoryRegion two = table.add(this::region);
        MemoryRegion three = table.add(this::region);

        table.remove(two);

        assertThat(table.lookup(0x4000)).isSameAs(one);
        assertThat(table.lookup(0x8000)).isNull();
        assertThat(table.lookup(0xC000)).isSameAs(three);
    }

    @Test
    void refusesMoreThanItsLimitUntilOneIsRemoved() {
        StagTable table = new StagTable(2);
        MemoryRegion one = table.add(this::region);
        table.add(this::region);

        assertThatExceptionOfType(RegionException.class)
                .isThrownBy(() -> table.add(this::region))
                .withMessageContaining("all 2 regions are in use")
                .extracting(RegionException::reason)
                .isEqualTo(RegionException.Reason.LIMIT);
        table.remove(one);

        assertThat(table.add(this::region)).isNotNull();
    }

    @Test
    void neverGivesOutAStagThatAKeyCouldTurnIntoAReservedOne() {
        StagTable table = new StagTable(10, draws(0, 0xFF, -1, 0xFFFFFF00, 0x105));

        assertThat(table.add(this::region).stag()).isEqualTo(0x105);
    }

    @Test
    void neverGivesOutAStagThatIsInUse() {
        StagTable table = new StagTable(10, draws(0x505, 0x505, 0x506, 0x605));

        assertThat(table.add(this::region).stag()).isEqualTo(0x505);
        assertThat(table.add(this::region).stag()).isEqualTo(0x605);
    }

    @Test
    void findsARegionByTheKeyOfThisMomentOnly() {
        StagTable table = new StagTable(10, draws(0xABCDEF12));
        MemoryRegion region = table.add(this::region);

        assertThat(region.enable(0x34)).isTrue();

        assertThat(region.stag()).isEqualTo(0xABCDEF34);
        assertThat(table.lookup(0xABCDEF34)).isSameAs(region);
        assertThat(table.lookup(0xABCDEF12)).isNull();
        assertThat(table.remove(region)).isTrue();
        assertThat(table.lookup(0xABCDEF34)).isNull();
    }

    @Test
    @Requirement("RDMAP-8.1.1-08")
    void aStagIsUsedAgainOnlyAfterManyOthersWereGivenBack() {
        AtomicInteger next = new AtomicInteger(0x10000);
        AtomicBoolean again = new AtomicBoolean();
        StagTable table = new StagTable(10, () -> again.getAndSet(false) ? 0x500 : next.getAndAdd(0x100));
        again.set(true);
        MemoryRegion first = table.add(this::region);
        table.remove(first);

        for (int i = 1; i < StagTable.QUARANTINE; i++) {
            table.remove(table.add(this::region));
        }
        again.set(true);
        MemoryRegion tooEarly = table.add(this::region);
        table.remove(tooEarly);
        again.set(true);
        MemoryRegion lateEnough = table.add(this::region);

        assertThat(first.stag()).isEqualTo(0x500);
        assertThat(tooEarly.stag()).isNotEqualTo(0x500);
        assertThat(lateEnough.stag()).isEqualTo(0x500);
    }

    @Test
    @Requirement("RDMAP-8.1.1-08")
    void stagsAreSparseOverThe32BitsWithoutASequence() {
        int count = 10_000;
        StagTable table = new StagTable(count);
        int[] high = new int[16];
        int[] low = new int[16];
        Set<Integer> stags = new HashSet<>();
        Set<Integer> steps = new HashSet<>();
        int previous = 0;
        for (int i = 0; i < count; i++) {
            int stag = table.add(this::region).stag();
            stags.add(stag);
            steps.add(stag - previous);
            high[stag >>> 28]++;
            low[stag & 0xF]++;
            previous = stag;
        }

        assertThat(stags).hasSize(count).doesNotContain(0, -1);
        // 625 are expected for each value of a digit; 180 is more than seven standard deviations.
        assertThat(Arrays.stream(high).boxed()).allSatisfy(n -> assertThat(n).isBetween(445, 805));
        assertThat(Arrays.stream(low).boxed()).allSatisfy(n -> assertThat(n).isBetween(445, 805));
        // Steps between random values are random: a few may coincide.
        assertThat(steps).hasSizeGreaterThan(count - 10);
    }

    @Test
    @Requirement("RDMAP-8.1.1-08")
    void twoTablesGiveOutDifferentStags() {
        Set<Integer> stags = new HashSet<>();
        for (int t = 0; t < 2; t++) {
            StagTable table = new StagTable(8);
            for (int i = 0; i < 8; i++) {
                stags.add(table.add(this::region).stag());
            }
        }

        // Predictable sources would repeat themselves; a single coincidence has a chance of 1 in 10^8.
        assertThat(stags).hasSizeGreaterThan(14);
    }

    @Test
    void keepsEveryRegionThroughGrowthAndManyRemovals() {
        StagTable table = new StagTable(5_000);
        Random random = new Random(1);
        List<MemoryRegion> live = new ArrayList<>();
        List<MemoryRegion> gone = new ArrayList<>();
        for (int i = 0; i < 8_000; i++) {
            if (live.size() < 5_000 && (live.isEmpty() || random.nextInt(3) != 0)) {
                live.add(table.add(this::region));
            } else {
                MemoryRegion region = live.remove(random.nextInt(live.size()));
                assertThat(table.remove(region)).isTrue();
                gone.add(region);
            }
        }

        assertThat(live)
                .allSatisfy(region -> assertThat(table.lookup(region.stag())).isSameAs(region));
        assertThat(gone)
                .allSatisfy(region -> assertThat(table.lookup(region.stag())).isNull());
        assertThat(table.regions()).containsExactlyInAnyOrderElementsOf(live);
    }

    @Test
    void lookupsFindWhatStaysWhileOthersComeAndGo() throws Exception {
        StagTable table = new StagTable(10_000);
        List<MemoryRegion> staying = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            staying.add(table.add(this::region));
        }
        AtomicBoolean done = new AtomicBoolean();
        try (ExecutorService readers = Executors.newFixedThreadPool(2)) {
            List<Future<Boolean>> results = new ArrayList<>();
            for (int r = 0; r < 2; r++) {
                results.add(readers.submit(() -> {
                    do {
                        for (MemoryRegion region : staying) {
                            if (table.lookup(region.stag()) != region) {
                                return false;
                            }
                        }
                    } while (!done.get());
                    return true;
                }));
            }
            List<MemoryRegion> passing = new ArrayList<>();
            for (int round = 0; round < 10; round++) {
                for (int i = 0; i < 500 + 100 * round; i++) {
                    passing.add(table.add(this::region));
                }
                for (Iterator<MemoryRegion> it = passing.iterator(); it.hasNext(); it.remove()) {
                    table.remove(it.next());
                }
            }
            done.set(true);

            for (Future<Boolean> result : results) {
                assertThat(result.get(30, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    private MemoryRegion region(int stag) {
        return new MemoryRegion(stag, domain, memory, new RegionAttributes(Set.of(), 0), 0);
    }

    private static IntSupplier draws(int... values) {
        AtomicInteger next = new AtomicInteger();
        return () -> values[next.getAndIncrement()];
    }
}
