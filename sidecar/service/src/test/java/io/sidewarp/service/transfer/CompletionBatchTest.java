// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.WorkCompletion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CompletionBatchTest {

    private final CompletionBatch batch = new CompletionBatch();
    private final Random random = new Random(3);
    private final io.sidewarp.engine.verbs.WorkCompletion completion = new io.sidewarp.engine.verbs.WorkCompletion();

    @Test
    void theGeneratedClassesDecodeWhatIsEncoded() throws IOException {
        for (int round = 0; round < 300; round++) {
            List<WorkCompletion> expected = new ArrayList<>();
            batch.clear();
            int count = random.nextInt(1, 200);
            for (int i = 0; i < count; i++) {
                expected.add(add());
            }
            batch.seal();

            assertThat(batch.count()).isEqualTo(count);
            assertThat(decode(batch).getCompletions().getCompletionsList()).isEqualTo(expected);
        }
    }

    @Test
    void theFirstResponseHoldsTheCredits() throws IOException {
        QueueResponse response = decode(CompletionBatch.opened(4711));

        assertThat(response.getOpened().getCredits()).isEqualTo(4711);
    }

    @Test
    void theOctetsAreCountedUntilTheBatchIsCleared() {
        add();
        assertThat(batch.octets()).isPositive();

        batch.clear();

        assertThat(batch.octets()).isZero();
        assertThat(batch.count()).isZero();
    }

    @Test
    void onlyTheOctetsOfASmallBatchAreKept() {
        add();
        assertThat(batch.excess()).isZero();
        while (batch.octets() < 64 * 1024) {
            add();
        }
        assertThat(batch.excess()).isGreaterThanOrEqualTo(batch.octets());

        batch.clear();

        assertThat(batch.excess()).isZero();
    }

    private WorkCompletion add() {
        if (random.nextInt(10) == 0) {
            WorkCompletion failed = WorkCompletion.newBuilder()
                    .setId(random.nextLong())
                    .setStatus(CompletionStatus.COMPLETION_STATUS_FLUSHED)
                    .setMessage("x".repeat(random.nextInt(300)))
                    .build();
            batch.add(failed);
            return failed;
        }
        boolean invalidated = random.nextBoolean();
        boolean solicited = random.nextBoolean();
        long id = random.nextLong();
        long connection = random.nextLong();
        long length = random.nextLong() >>> random.nextInt(64);
        int stag = random.nextInt();
        Opcode opcode = Opcode.values()[random.nextInt(Opcode.values().length)];
        boolean immediate = opcode == Opcode.RECEIVE && random.nextBoolean();
        long result = random.nextLong();
        completion.set(1, 2, opcode, io.sidewarp.engine.rdmap.CompletionStatus.SUCCESS, length);
        completion.setReceived(solicited, invalidated, stag);
        completion.setResult(immediate, result);
        batch.add(id, connection, completion);
        WorkCompletion.Builder expected = WorkCompletion.newBuilder()
                .setId(id)
                .setConnection(connection)
                .setOpcode(Completions.opcode(opcode))
                .setStatus(CompletionStatus.COMPLETION_STATUS_SUCCESS)
                .setLength(length)
                .setSolicited(solicited);
        if (invalidated) {
            expected.setInvalidatedStag(stag);
        }
        if (immediate) {
            expected.setImmediate(result);
        } else if (opcode.isAtomic()) {
            expected.setOriginal(result);
        }
        return expected.build();
    }

    private static QueueResponse decode(CompletionBatch batch) throws IOException {
        return QueueResponse.parseFrom(CompletionBatch.MARSHALLER.stream(batch));
    }
}
