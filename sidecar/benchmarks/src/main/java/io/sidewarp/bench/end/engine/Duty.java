// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

/** What an application does, in small steps that never block. Belongs to one thread; allocates nothing once it runs. */
interface Duty {

    /**
     * Does what can be done now.
     *
     * @return false when there was nothing
     */
    boolean poll();

    /** True when it has come to its end. */
    boolean isDone();

    /** Whether completions alone give it something to do; else it has to look at memory all the time. */
    boolean followsCompletions();
}
