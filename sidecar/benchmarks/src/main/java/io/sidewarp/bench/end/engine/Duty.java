// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.DutyOutcome;

/** Work of an application, in small steps that never block. Belongs to one thread. Allocates nothing once it runs. */
interface Duty {

    /**
     * Does the work that is possible now.
     *
     * @return false if there was none
     */
    boolean poll();

    /** Returns whether the duty has come to its end. */
    boolean isDone();

    /** Returns whether completions alone trigger the duty. Otherwise the duty has to poll memory all the time. */
    boolean followsCompletions();

    /** Returns the outcome of a duty that is done. */
    DutyOutcome outcome();
}
