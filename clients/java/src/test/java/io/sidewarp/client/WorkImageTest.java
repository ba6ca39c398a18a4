// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sidewarp.ring.WorkEntryFlyweight;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Tests the encoding of work requests in a ring. */
class WorkImageTest {

    private final Connection connection = TestConnections.connection(5);
    private final RemoteAddress remote = new RemoteAddress(0xA1B2C3D4, 4096);
    private final Sge local = new Sge(3, 16, 8);

    @Test
    void writeHasItsPartsAndThePeersAddress() {
        WorkEntryFlyweight entry = entry(WorkRequest.write(connection, remote, local, new Sge(4, 0, 0xFFFF_FFFFL))
                .unsignaled()
                .fenced()
                .flushed());

        assertThat(entry.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_WRITE);
        assertThat(entry.connection()).isEqualTo(5);
        assertThat(entry.blocks()).isEqualTo(2);
        assertThat(entry.elements()).isEqualTo(2);
        assertThat(entry.remoteStag()).isEqualTo(0xA1B2C3D4);
        assertThat(entry.remoteOffset()).isEqualTo(4096);
        assertThat(entry.region(0)).isEqualTo(3);
        assertThat(entry.offset(0)).isEqualTo(16);
        assertThat(entry.length(0)).isEqualTo(8);
        assertThat(entry.region(1)).isEqualTo(4);
        assertThat(entry.length(1)).isEqualTo(-1);
        assertThat(entry.flags())
                .isEqualTo(WorkEntryFlyweight.FLAG_UNSIGNALED
                        | WorkEntryFlyweight.FLAG_FENCE
                        | WorkEntryFlyweight.FLAG_WITH_FLUSH);
        assertThat(entry.id()).isZero();
        assertThat(entry.tag()).isZero();
    }

    @Test
    void writeWithImmediateHasTheDataAsOperand() {
        WorkEntryFlyweight entry = entry(
                WorkRequest.write(connection, remote, local).withImmediate(-7).solicited());

        assertThat(entry.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE);
        assertThat(entry.blocks()).isEqualTo(2);
        assertThat(entry.operand()).isEqualTo(-7);
        assertThat(entry.flags()).isEqualTo(WorkEntryFlyweight.FLAG_SOLICITED);
    }

    @Test
    void sendNamesTheStagThatItInvalidates() {
        WorkEntryFlyweight entry =
                entry(WorkRequest.send(connection).invalidating(0).solicited().fencedLocally());

        assertThat(entry.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_SEND);
        assertThat(entry.elements()).isZero();
        assertThat(entry.blocks()).isOne();
        assertThat(entry.flags())
                .isEqualTo(WorkEntryFlyweight.FLAG_INVALIDATE
                        | WorkEntryFlyweight.FLAG_SOLICITED
                        | WorkEntryFlyweight.FLAG_LOCAL_FENCE);
        assertThat(entry(WorkRequest.send(connection).invalidating(9)).remoteStag())
                .isEqualTo(9);
    }

    @Test
    void atomicOperationsHaveTheirOperands() {
        WorkEntryFlyweight add =
                entry(WorkRequest.fetchAdd(connection, remote, 5, 6).into(local));
        assertThat(add.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_FETCH_ADD);
        assertThat(add.operand()).isEqualTo(5);
        assertThat(add.operandMask()).isEqualTo(6);
        assertThat(add.region(0)).isEqualTo(3);
        assertThat(add.blocks()).isEqualTo(2);

        WorkEntryFlyweight swap = entry(WorkRequest.compareSwap(connection, remote, 1, 2, 3, 4));
        assertThat(swap.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_COMPARE_SWAP);
        assertThat(swap.elements()).isZero();
        assertThat(swap.compare()).isEqualTo(1);
        assertThat(swap.compareMask()).isEqualTo(2);
        assertThat(swap.operand()).isEqualTo(3);
        assertThat(swap.operandMask()).isEqualTo(4);
        assertThat(swap.remoteOffset()).isEqualTo(4096);
    }

    @Test
    void otherWorkHasWhatItNeeds() {
        WorkEntryFlyweight read = entry(WorkRequest.read(connection, remote, local));
        assertThat(read.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_READ);
        assertThat(read.elements()).isOne();

        WorkEntryFlyweight immediate = entry(WorkRequest.immediate(connection, -9));
        assertThat(immediate.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_IMMEDIATE);
        assertThat(immediate.remoteOffset()).isEqualTo(-9);

        WorkEntryFlyweight receive =
                entry(WorkRequest.receive(connection, local).unsignaled());
        assertThat(receive.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_RECEIVE);
        assertThat(receive.flags()).isZero();

        assertThat(entry(WorkRequest.flush(connection)).opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_FLUSH);
        WorkEntryFlyweight marker = entry(WorkRequest.marker(8));
        assertThat(marker.opcode()).isEqualTo(WorkEntryFlyweight.OPCODE_WRITE);
        assertThat(marker.connection()).isEqualTo(8);
        assertThat(marker.elements()).isZero();
    }

    @Test
    void requestThatAnEntryCannotHoldIsRefused() {
        Sge[] many = Collections.nCopies(17, local).toArray(Sge[]::new);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WorkRequest.send(connection, many).image())
                .withMessage("the work request has 17 local parts; at most 16 are allowed");
        assertThat(entry(WorkRequest.send(connection, Arrays.copyOf(many, 16))).blocks())
                .isEqualTo(9);
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        WorkRequest.send(connection, new Sge(1, 0, 1L << 32)).image())
                .withMessageContaining("4294967296 bytes; at most 4294967295");
    }

    private static WorkEntryFlyweight entry(WorkRequest request) {
        assertThat(request.image()).isSameAs(request.image());
        return new WorkEntryFlyweight(MemorySegment.ofArray(request.image().words()));
    }
}
