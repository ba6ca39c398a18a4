// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.Duration;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.WriteWork;
import java.util.List;

/** Conversions between the client's own types and the messages of the contract. */
final class Protos {

    /** Maximum number of elements: more than devices take (max_sge), and few enough for a message. */
    private static final int MAX_ELEMENTS = 1024;

    private Protos() {}

    static WriteWork write(RemoteAddress remote, List<Sge> local) {
        return WriteWork.newBuilder()
                .setRemote(remote.toProto())
                .addAllLocal(sges(local))
                .build();
    }

    static ReadWork read(RemoteAddress remote, Sge local) {
        return ReadWork.newBuilder()
                .setRemote(remote.toProto())
                .addLocal(local.toProto())
                .build();
    }

    static SendWork send(List<Sge> local) {
        return SendWork.newBuilder().addAllLocal(sges(local)).build();
    }

    static ReceiveWork receive(long id, List<Sge> local) {
        return ReceiveWork.newBuilder().setId(id).addAllLocal(sges(local)).build();
    }

    private static WorkCompletion.Result resultKind(io.sidewarp.v1.WorkCompletion completion) {
        if (completion.hasImmediate()) {
            return WorkCompletion.Result.IMMEDIATE;
        }
        return completion.hasOriginal() ? WorkCompletion.Result.ORIGINAL : WorkCompletion.Result.NONE;
    }

    static WorkCompletion completion(io.sidewarp.v1.WorkCompletion completion, long id) {
        return new WorkCompletion(
                id,
                completion.getConnection(),
                Opcode.ofNumber(completion.getOpcodeValue()),
                CompletionStatus.ofNumber(completion.getStatusValue()),
                completion.getLength(),
                completion.getSolicited(),
                completion.hasInvalidatedStag(),
                completion.getInvalidatedStag(),
                resultKind(completion),
                completion.hasImmediate() ? completion.getImmediate() : completion.getOriginal(),
                completion.hasError() ? completion.getError() : null,
                completion.getMessage(),
                completion.getCode(),
                Retry.of(completion.getRetry()));
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

    private static List<io.sidewarp.v1.Sge> sges(List<Sge> local) {
        if (local.size() > MAX_ELEMENTS) {
            throw new IllegalArgumentException("The work request has " + local.size() + " elements; at most "
                    + MAX_ELEMENTS + " are possible. Split the work request.");
        }
        return local.stream().map(Sge::toProto).toList();
    }
}
