// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayList;
import java.util.List;

/** A work queue over gRPC or rings. Takes work requests, and returns their completions. */
public interface PostedWork extends AutoCloseable {

    /** Posts work requests in the order of the list. Requests wait in the client while there is no room. */
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

    /** Returns whether no received completion is left to take. */
    boolean isEmpty();

    @Override
    void close();
}
