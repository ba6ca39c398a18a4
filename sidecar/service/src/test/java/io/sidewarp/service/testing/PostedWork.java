// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.List;

/** A queue of work over any path. Takes work requests, and returns their completions. */
public interface PostedWork extends AutoCloseable {

    /** Posts work in this order. Work that has no room yet waits on the client's side. */
    void post(List<WorkRequest> work);

    default void post(WorkRequest... work) {
        post(List.of(work));
    }

    /** Waits for the next completion. */
    WorkCompletion next();

    default List<WorkCompletion> next(int count) {
        List<WorkCompletion> all = new ArrayList<>();
        while (all.size() < count) {
            all.add(next());
        }
        return all;
    }

    /** Returns whether all completions that came were taken. */
    boolean isEmpty();

    @Override
    void close();
}
