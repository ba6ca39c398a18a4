// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.Duration;
import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.v1.CompareSwapWork;
import io.sidewarp.v1.EnableWork;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.FlushWork;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.LocalInvalidateWork;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.WriteWork;
import java.util.List;

/** Conversions between the client's own types and the messages of the contract. */
final class Protos {

    private Protos() {}

    /** Returns the number of a constant in the contract, whose enums list the same constants from 1 on. */
    static int number(Enum<?> constant) {
        return constant.ordinal() + 1;
    }

    /**
     * Returns the constant of a number in the contract.
     *
     * @param unknown constant for a number that only newer sidecars know, and for 0
     */
    static <E extends Enum<E>> E ofNumber(E[] constants, int number, E unknown) {
        return number > 0 && number <= constants.length ? constants[number - 1] : unknown;
    }

    /** Converts a work request, without an id. */
    static io.sidewarp.v1.WorkRequest work(WorkRequest request) {
        io.sidewarp.v1.WorkRequest.Builder work = io.sidewarp.v1.WorkRequest.newBuilder()
                .setConnection(request.connection())
                .setFence(request.has(WorkEntryFlyweight.FLAG_FENCE))
                .setLocalFence(request.has(WorkEntryFlyweight.FLAG_LOCAL_FENCE))
                .setUnsignaled(request.isUnsignaled())
                .setWithFlush(request.has(WorkEntryFlyweight.FLAG_WITH_FLUSH));
        if (request.has(WorkEntryFlyweight.FLAG_SHARED)) {
            work.setSharedReceiveQueue(request.owner());
        }
        boolean solicited = request.has(WorkEntryFlyweight.FLAG_SOLICITED);
        WorkRequest.Operands operands = request.operands();
        switch (request.opcode()) {
            case WRITE -> work.setWrite(write(request));
            case WRITE_WITH_IMMEDIATE ->
                work.setWrite(write(request).setImmediate(operands.operand()).setSolicited(solicited));
            case READ ->
                work.setRead(ReadWork.newBuilder().setRemote(remote(request)).addAllLocal(local(request)));
            case SEND -> {
                SendWork.Builder send =
                        SendWork.newBuilder().addAllLocal(local(request)).setSolicited(solicited);
                if (request.has(WorkEntryFlyweight.FLAG_INVALIDATE)) {
                    send.setInvalidateStag(request.remote().stag());
                }
                work.setSend(send);
            }
            case RECEIVE -> work.setReceive(ReceiveWork.newBuilder().addAllLocal(local(request)));
            case IMMEDIATE ->
                work.setImmediate(
                        ImmediateWork.newBuilder().setData(operands.operand()).setSolicited(solicited));
            case FETCH_ADD ->
                work.setFetchAdd(FetchAddWork.newBuilder()
                        .addAllLocal(local(request))
                        .setRemote(remote(request))
                        .setAdd(operands.operand())
                        .setMask(operands.operandMask()));
            case COMPARE_SWAP ->
                work.setCompareSwap(CompareSwapWork.newBuilder()
                        .addAllLocal(local(request))
                        .setRemote(remote(request))
                        .setCompare(operands.compare())
                        .setCompareMask(operands.compareMask())
                        .setSwap(operands.operand())
                        .setSwapMask(operands.operandMask()));
            case LOCAL_INVALIDATE ->
                work.setLocalInvalidate(LocalInvalidateWork.newBuilder()
                        .setRegion(request.local().getFirst().region()));
            case ENABLE ->
                work.setEnable(EnableWork.newBuilder()
                        .setRegion(request.local().getFirst().region())
                        .setKey((int) operands.operand()));
            case FLUSH -> work.setFlush(FlushWork.getDefaultInstance());
            case UNKNOWN -> throw new IllegalArgumentException("the work request has no work");
        }
        return work.build();
    }

    private static WriteWork.Builder write(WorkRequest request) {
        return WriteWork.newBuilder().addAllLocal(local(request)).setRemote(remote(request));
    }

    static WorkCompletion completion(io.sidewarp.v1.WorkCompletion completion, long id) {
        return new WorkCompletion(
                id,
                completion.getConnection(),
                Opcode.ofNumber(completion.getOpcodeValue()),
                CompletionStatus.ofNumber(completion.getStatusValue()),
                completion.getLength(),
                flags(completion),
                completion.getInvalidatedStag(),
                completion.hasImmediate() ? completion.getImmediate() : completion.getOriginal(),
                completion.hasError() ? Descriptions.error(completion.getError()) : null,
                completion.getMessage(),
                completion.getCode(),
                Retry.ofNumber(completion.getRetryValue()));
    }

    private static int flags(io.sidewarp.v1.WorkCompletion completion) {
        return (completion.getSolicited() ? CompletionEntryFlyweight.FLAG_SOLICITED : 0)
                | (completion.hasInvalidatedStag() ? CompletionEntryFlyweight.FLAG_INVALIDATED : 0)
                | (completion.hasImmediate() ? CompletionEntryFlyweight.FLAG_IMMEDIATE : 0)
                | (completion.hasOriginal() ? CompletionEntryFlyweight.FLAG_ORIGINAL : 0);
    }

    /**
     * Converts the completion of a single call.
     *
     * @throws WorkFailedException if the work did not succeed
     */
    static WorkCompletion completed(io.sidewarp.v1.WorkCompletion completion) {
        return completion(completion, completion.getId()).orThrow();
    }

    static Duration duration(java.time.Duration duration) {
        return Duration.newBuilder()
                .setSeconds(duration.getSeconds())
                .setNanos(duration.getNano())
                .build();
    }

    static java.time.Duration duration(Duration duration) {
        return java.time.Duration.ofSeconds(duration.getSeconds(), duration.getNanos());
    }

    private static RemoteAddress remote(WorkRequest request) {
        return RemoteAddress.newBuilder()
                .setStag(request.remote().stag())
                .setTaggedOffset(request.remote().taggedOffset())
                .build();
    }

    static io.sidewarp.v1.Sge sge(Sge local) {
        return io.sidewarp.v1.Sge.newBuilder()
                .setRegion(local.region())
                .setOffset(local.offset())
                .setLength(local.length())
                .build();
    }

    private static List<io.sidewarp.v1.Sge> local(WorkRequest request) {
        return request.local().stream().map(Protos::sge).toList();
    }
}
