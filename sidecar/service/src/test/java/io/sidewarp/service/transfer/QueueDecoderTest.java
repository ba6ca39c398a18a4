// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.UnknownFieldSet;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.v1.CompareSwapWork;
import io.sidewarp.v1.EnableWork;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.LocalInvalidateWork;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class QueueDecoderTest {

    private final QueueDecoder decoder = new QueueDecoder();
    private final WorkItem item = new WorkItem();
    private final Random random = new Random(7);

    @Test
    void decodesWhatTheGeneratedClassesEncode() {
        for (int round = 0; round < 500; round++) {
            QueuePost.Builder post = QueuePost.newBuilder();
            int count = random.nextInt(5);
            for (int i = 0; i < count; i++) {
                post.addWork(work());
            }
            begin(QueueRequest.newBuilder().setPost(post).build().toByteArray());

            for (WorkRequest expected : post.getWorkList()) {
                assertThat(decoder.next(item)).isTrue();
                assertThat(asProto(item)).isEqualTo(expected);
            }
            assertThat(decoder.next(item)).isFalse();
        }
    }

    @Test
    void masksThatACompareAndSwapDoesNotNameCoverAllBits() {
        begin(QueueRequest.newBuilder()
                .setPost(QueuePost.newBuilder()
                        .addWork(WorkRequest.newBuilder()
                                .setCompareSwap(CompareSwapWork.newBuilder().setSwap(1))))
                .build()
                .toByteArray());

        assertThat(decoder.next(item)).isTrue();
        assertThat(item.compareMask).isEqualTo(-1L);
        assertThat(item.operandMask).isEqualTo(-1L);
    }

    @Test
    void readsTheOpenOfTheFirstMessage() {
        QueueOpen open = QueueOpen.newBuilder()
                .setSession("abc")
                .setOutstanding(7)
                .addReceiveConnections(3)
                .addReceiveConnections(9)
                .build();
        begin(QueueRequest.newBuilder().setOpen(open).build().toByteArray());

        assertThat(decoder.open()).isEqualTo(open);
    }

    @Test
    void keepsNoFieldOfAnOpenThatNobodyKnows() {
        QueueOpen open = QueueOpen.newBuilder().setSession("abc").build();
        UnknownFieldSet unknown =
                UnknownFieldSet.newBuilder().mergeVarintField(1000, 1).build();
        begin(QueueRequest.newBuilder()
                .setOpen(open.toBuilder().setUnknownFields(unknown))
                .build()
                .toByteArray());

        assertThat(decoder.open()).isEqualTo(open);
    }

    @Test
    void findsNoOpenInAPost() {
        begin(QueueRequest.newBuilder()
                .setPost(QueuePost.getDefaultInstance())
                .build()
                .toByteArray());

        assertThat(decoder.open()).isNull();
    }

    @Test
    void refusesEveryTruncationOfAMessageOrReadsLess() {
        byte[] whole = QueueRequest.newBuilder()
                .setPost(QueuePost.newBuilder().addWork(work()).addWork(work()))
                .build()
                .toByteArray();
        for (int length = 0; length < whole.length; length++) {
            begin(Arrays.copyOf(whole, length));
            int found = 0;
            try {
                while (decoder.next(item)) {
                    found++;
                }
            } catch (ProtoReader.MalformedMessage e) {
                assertThat(e.getMessage()).startsWith("malformed");
            }
            assertThat(found).isLessThan(2);
        }
    }

    @Test
    void survivesAnyOctets() {
        byte[] octets = new byte[64];
        for (int round = 0; round < 20_000; round++) {
            random.nextBytes(octets);
            // Mostly something that begins like a post.
            octets[0] = 0x12;
            octets[1] = 60;
            octets[2] = 0x0A;
            octets[3] = 50;
            begin(octets);
            try {
                while (decoder.next(item)) {
                    assertThat(item.sgeCount).isNotNegative();
                }
            } catch (ProtoReader.MalformedMessage e) {
                assertThat(e).hasMessageStartingWith("malformed");
            }
        }
    }

    @Test
    void countsElementsBeyondThoseThatItKeeps() {
        SendWork.Builder send = SendWork.newBuilder();
        for (int i = 0; i < 40; i++) {
            send.addLocal(Sge.newBuilder().setRegion(i + 1));
        }
        begin(QueueRequest.newBuilder()
                .setPost(QueuePost.newBuilder().addWork(WorkRequest.newBuilder().setSend(send)))
                .build()
                .toByteArray());

        assertThat(decoder.next(item)).isTrue();
        assertThat(item.sgeCount).isEqualTo(40);
        assertThat(item.regions[15]).isEqualTo(16);
    }

    @Test
    void refusesAnInvalidTag() {
        begin(new byte[] {0x00, 0x01});

        assertThatThrownBy(() -> decoder.next(item)).isInstanceOf(ProtoReader.MalformedMessage.class);
    }

    @Test
    void nothingOfAMessageIsKeptBehindItsWork() {
        WeakReference<byte[]> message = decodeAll();

        await().untilAsserted(() -> {
            System.gc();
            assertThat(message.get()).isNull();
        });
    }

    private WeakReference<byte[]> decodeAll() {
        byte[] message = QueueRequest.newBuilder()
                .setPost(QueuePost.newBuilder().addWork(work()))
                .build()
                .toByteArray();
        begin(message);
        assertThat(decoder.next(item)).isTrue();
        assertThat(decoder.next(item)).isFalse();
        return new WeakReference<>(message);
    }

    private void begin(byte[] message) {
        decoder.begin(new QueueFrame(message, message.length), true);
    }

    private WorkRequest work() {
        WorkRequest.Builder work = WorkRequest.newBuilder()
                .setId(random.nextLong())
                .setConnection(random.nextInt(3))
                .setFence(random.nextBoolean())
                .setLocalFence(random.nextBoolean())
                .setSharedReceiveQueue(random.nextInt(3))
                .setUnsignaled(random.nextBoolean());
        return switch (random.nextInt(11)) {
            case 0 ->
                work.setWrite(WriteWork.newBuilder()
                                .addLocal(sge())
                                .addLocal(sge())
                                .setRemote(remote()))
                        .build();
            case 1 ->
                work.setRead(ReadWork.newBuilder().addLocal(sge()).setRemote(remote()))
                        .build();
            case 2 ->
                work.setSend(SendWork.newBuilder().addLocal(sge()).setSolicited(random.nextBoolean()))
                        .build();
            case 3 ->
                work.setSend(SendWork.newBuilder().setInvalidateStag(random.nextInt()))
                        .build();
            case 4 ->
                work.setWrite(WriteWork.newBuilder()
                                .setImmediate(random.nextLong())
                                .addLocal(sge())
                                .setSolicited(random.nextBoolean())
                                .setRemote(remote()))
                        .build();
            case 5 ->
                work.setImmediate(ImmediateWork.newBuilder()
                                .setData(random.nextLong())
                                .setSolicited(random.nextBoolean()))
                        .build();
            case 6 ->
                work.setFetchAdd(FetchAddWork.newBuilder()
                                .addLocal(sge())
                                .setRemote(remote())
                                .setAdd(random.nextLong())
                                .setMask(random.nextLong()))
                        .build();
            case 7 ->
                work.setCompareSwap(CompareSwapWork.newBuilder()
                                .setRemote(remote())
                                .setCompare(random.nextLong())
                                .setCompareMask(random.nextLong())
                                .setSwap(random.nextLong())
                                .setSwapMask(random.nextLong()))
                        .build();
            case 8 ->
                work.setLocalInvalidate(LocalInvalidateWork.newBuilder().setRegion(random.nextLong()))
                        .build();
            case 9 ->
                work.setEnable(EnableWork.newBuilder()
                                .setRegion(random.nextLong())
                                .setKey(random.nextInt()))
                        .build();
            default -> work.setReceive(ReceiveWork.newBuilder().addLocal(sge())).build();
        };
    }

    private Sge sge() {
        return Sge.newBuilder()
                .setRegion(random.nextInt(100) + 1L)
                .setOffset(random.nextLong())
                .setLength(random.nextInt(1000) + 1L)
                .build();
    }

    private RemoteAddress remote() {
        return RemoteAddress.newBuilder()
                .setStag(random.nextInt() | 1)
                .setTaggedOffset(random.nextLong())
                .build();
    }

    private static WorkRequest asProto(WorkItem item) {
        WorkRequest.Builder work = WorkRequest.newBuilder()
                .setId(item.id)
                .setConnection(item.connection)
                .setFence(item.fence)
                .setLocalFence(item.localFence)
                .setSharedReceiveQueue(item.sharedReceives)
                .setUnsignaled(item.unsignaled);
        RemoteAddress remote = RemoteAddress.newBuilder()
                .setStag(item.remoteStag)
                .setTaggedOffset(item.remoteTaggedOffset)
                .build();
        Sge[] elements = new Sge[item.sgeCount];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = Sge.newBuilder()
                    .setRegion(item.regions[i])
                    .setOffset(item.offsets[i])
                    .setLength(item.lengths[i])
                    .build();
        }
        if (item.opcode == Opcode.RDMA_WRITE) {
            work.setWrite(
                    WriteWork.newBuilder().addAllLocal(Arrays.asList(elements)).setRemote(remote));
        } else if (item.opcode == Opcode.RDMA_WRITE_WITH_IMMEDIATE) {
            work.setWrite(WriteWork.newBuilder()
                    .addAllLocal(Arrays.asList(elements))
                    .setRemote(remote)
                    .setImmediate(item.immediate)
                    .setSolicited(item.solicited));
        } else if (item.opcode == Opcode.IMMEDIATE) {
            work.setImmediate(ImmediateWork.newBuilder().setData(item.immediate).setSolicited(item.solicited));
        } else if (item.opcode == Opcode.LOCAL_INVALIDATE) {
            work.setLocalInvalidate(LocalInvalidateWork.newBuilder().setRegion(item.subject));
        } else if (item.opcode == Opcode.ENABLE) {
            work.setEnable(EnableWork.newBuilder().setRegion(item.subject).setKey(item.key));
        } else if (item.opcode == Opcode.FETCH_ADD) {
            work.setFetchAdd(FetchAddWork.newBuilder()
                    .addAllLocal(Arrays.asList(elements))
                    .setRemote(remote)
                    .setAdd(item.operand)
                    .setMask(item.operandMask));
        } else if (item.opcode == Opcode.COMPARE_SWAP) {
            work.setCompareSwap(CompareSwapWork.newBuilder()
                    .addAllLocal(Arrays.asList(elements))
                    .setRemote(remote)
                    .setCompare(item.compare)
                    .setCompareMask(item.compareMask)
                    .setSwap(item.operand)
                    .setSwapMask(item.operandMask));
        } else if (item.opcode == Opcode.RDMA_READ) {
            work.setRead(
                    ReadWork.newBuilder().addAllLocal(Arrays.asList(elements)).setRemote(remote));
        } else if (item.opcode == Opcode.RECEIVE) {
            work.setReceive(ReceiveWork.newBuilder().addAllLocal(Arrays.asList(elements)));
        } else {
            SendWork.Builder send =
                    SendWork.newBuilder().addAllLocal(Arrays.asList(elements)).setSolicited(item.solicited);
            if (item.invalidate) {
                send.setInvalidateStag(item.invalidateStag);
            }
            work.setSend(send);
        }
        return work.build();
    }
}
