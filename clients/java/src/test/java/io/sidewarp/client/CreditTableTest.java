// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CreditTableTest {

    private static final CompletionStatus SUCCESS = CompletionStatus.SUCCESS;

    private final WorkRequest signaled = send(1);
    private final WorkRequest unsignaled = send(1).unsignaled();
    private final WorkRequest receive = WorkRequest.receive(TestConnections.connection(1), new Sge(1, 0, 8));

    @Test
    void eachOutstandingRequestHoldsOneCreditUntilItCompletes() {
        CreditTable table = new CreditTable(2);

        int first = table.take(signaled, 71, null);
        int second = table.take(signaled, 72, null);

        assertThat(table.available()).isZero();
        assertThat(first).isNotEqualTo(second);
        assertThat(table.id(first)).isEqualTo(71);
        assertThat(table.id(second)).isEqualTo(72);
        table.complete(first, SUCCESS);
        assertThat(table.available()).isOne();
        assertThat(table.isTaken(first)).isFalse();
        assertThat(table.isTaken(second)).isTrue();
    }

    @Test
    void placesThatNeverExistedAreNotTaken() {
        CreditTable table = new CreditTable(2);

        assertThat(table.isTaken(-1)).isFalse();
        assertThat(table.isTaken(2)).isFalse();
        assertThat(table.isTaken(1L << 32)).isFalse();
    }

    @Test
    void laterSendCompletionFreesUnsignaledRequestsBeforeIt() {
        CreditTable table = new CreditTable(8);
        table.take(unsignaled, 1, null);
        table.take(unsignaled, 2, null);
        int last = table.take(signaled, 3, null);
        table.take(unsignaled, 4, null);

        table.complete(last, SUCCESS);

        assertThat(table.available()).isEqualTo(7);
        assertThat(table.awaited()).isZero();
    }

    @Test
    void completionOfAnotherConnectionFreesNoUnsignaledRequest() {
        CreditTable table = new CreditTable(8);
        table.take(unsignaled, 1, null);
        int other = table.take(send(2), 2, null);

        table.complete(other, SUCCESS);

        assertThat(table.available()).isEqualTo(7);
    }

    @Test
    void receiveSaysNothingAboutUnsignaledSends() {
        CreditTable table = new CreditTable(8);
        table.take(unsignaled, 1, null);
        int received = table.take(receive, 2, null);

        table.complete(received, SUCCESS);

        assertThat(table.available()).isEqualTo(7);
    }

    @Test
    void refusedRequestSaysNothingAboutUnsignaledRequestsBeforeIt() {
        CreditTable table = new CreditTable(8);
        table.take(unsignaled, 1, null);
        int refused = table.take(signaled, 2, null);

        table.complete(refused, CompletionStatus.INVALID_REQUEST);

        assertThat(table.available()).isEqualTo(7);
    }

    @Test
    void failedUnsignaledRequestFreesItselfAndThoseBeforeItOnly() {
        CreditTable table = new CreditTable(10);
        table.take(unsignaled, 1, null);
        table.take(send(2).unsignaled(), 2, null);
        int failed = table.take(unsignaled, 3, null);
        table.take(unsignaled, 4, null);

        table.complete(failed, CompletionStatus.FLUSHED);

        assertThat(table.available()).isEqualTo(8);
        assertThat(table.isTaken(failed)).isFalse();
    }

    @Test
    void chainOfUnsignaledRequestsSurvivesChangesAtBothEnds() {
        CreditTable table = new CreditTable(10);
        int first = table.take(unsignaled, 1, null);
        table.take(send(2).unsignaled(), 2, null);
        int third = table.take(unsignaled, 3, null);
        table.complete(third, CompletionStatus.FLUSHED);
        assertThat(table.isTaken(first)).isFalse();

        table.take(unsignaled, 4, null);
        table.complete(table.take(send(2), 5, null), SUCCESS);
        assertThat(table.available()).isEqualTo(9);
        table.complete(table.take(signaled, 6, null), SUCCESS);

        assertThat(table.available()).isEqualTo(10);
    }

    @Test
    void unsignaledRequestsAreSentSignaledWhenTheyHoldHalfOfTheCredits() {
        CreditTable table = new CreditTable(4);

        int first = table.take(unsignaled, 1, null);
        int second = table.take(unsignaled, 2, null);
        int third = table.take(unsignaled, 3, null);

        assertThat(table.isSignaled(first)).isFalse();
        assertThat(table.isSignaled(second)).isFalse();
        assertThat(table.isSignaled(third)).isTrue();
        assertThat(table.tellsSuccess(third)).isFalse();
        table.complete(third, SUCCESS);
        assertThat(table.available()).isEqualTo(4);
    }

    @Test
    void lastPlacesThatReceivesLeaveAreSentSignaled() {
        CreditTable table = new CreditTable(9);
        for (int i = 0; i < 5; i++) {
            table.take(receive, i, null);
        }
        assertThat(table.isSignaled(table.take(unsignaled, 5, null))).isFalse();
        assertThat(table.isSignaled(table.take(unsignaled, 6, null))).isFalse();

        int lastButOne = table.take(unsignaled, 7, null);
        int last = table.take(unsignaled, 8, null);

        assertThat(table.isSignaled(lastButOne)).isTrue();
        assertThat(table.isSignaled(last)).isTrue();
        assertThat(table.tellsSuccess(last)).isFalse();
        table.complete(last, SUCCESS);
        assertThat(table.available()).isEqualTo(3);
    }

    @Test
    void receiveTakesTheLastPlaceBehindSendWorkThatWillComplete() {
        CreditTable table = new CreditTable(4);
        table.take(receive, 1, null);
        assertThat(table.isSignaled(table.take(unsignaled, 2, null))).isFalse();
        int answer = table.take(unsignaled, 3, null);
        assertThat(table.isSignaled(answer)).isTrue();
        assertThat(table.availableToReceives()).isOne();
        table.take(receive, 4, null);

        table.complete(answer, SUCCESS);

        assertThat(table.available()).isEqualTo(2);
    }

    @Test
    void receivesLeaveTheLastPlaceToWorkThatFreesUnsignaledRequests() {
        CreditTable table = new CreditTable(4);
        table.take(unsignaled, 1, null);
        table.take(unsignaled, 2, null);
        assertThat(table.availableToReceives()).isOne();
        table.take(receive, 3, null);
        assertThat(table.availableToReceives()).isZero();
        assertThat(table.available()).isOne();

        table.complete(table.take(signaled, 4, null), SUCCESS);

        assertThat(table.available()).isEqualTo(3);
        assertThat(table.availableToReceives()).isEqualTo(3);
    }

    @Test
    void receivesTakeTheLastPlaceWhenNoUnsignaledRequestHoldsAny() {
        CreditTable table = new CreditTable(2);
        table.take(signaled, 1, null);

        assertThat(table.availableToReceives()).isOne();
    }

    @Test
    void anyRequestPostedAfterTheEndOfAConnectionFreesItsUnsignaledOnes() {
        CreditTable table = new CreditTable(8);
        table.take(unsignaled, 1, null);
        table.take(unsignaled, 2, null);
        table.take(send(3).unsignaled(), 3, null);
        table.close(1);
        assertThat(table.available()).isEqualTo(5);

        table.complete(table.take(send(2), 4, null), CompletionStatus.INVALID_REQUEST);

        assertThat(table.available()).isEqualTo(7);
    }

    @Test
    void requestPostedBeforeTheEndOfAConnectionWasToldSaysNothingAboutItsUnsignaledOnes() {
        CreditTable table = new CreditTable(8);
        int unknown = table.take(unsignaled, 1, null);
        int before = table.take(send(2), 2, null);
        table.close(1);

        table.complete(before, SUCCESS);

        assertThat(table.isTaken(unknown)).isTrue();
    }

    @Test
    void requestPostedToAClosedConnectionHoldsItsPlaceUntilItIsRefused() {
        CreditTable table = new CreditTable(8);
        table.take(unsignaled, 1, null);
        table.close(1);
        int late = table.take(unsignaled, 2, null);
        table.complete(table.take(send(2), 3, null), SUCCESS);
        assertThat(table.isTaken(late)).isTrue();
        assertThat(table.available()).isEqualTo(7);

        table.complete(late, CompletionStatus.FLUSHED);

        assertThat(table.available()).isEqualTo(8);
    }

    @Test
    void singleCreditNeverGoesToAnUnsignaledRequestForGood() {
        CreditTable table = new CreditTable(1);

        assertThat(table.isSignaled(table.take(unsignaled, 1, null))).isTrue();
    }

    private static WorkRequest send(long connection) {
        return WorkRequest.send(TestConnections.connection(connection));
    }
}
