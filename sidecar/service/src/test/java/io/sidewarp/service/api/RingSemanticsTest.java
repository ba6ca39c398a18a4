// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.sidewarp.service.testing.PostedWork;
import io.sidewarp.service.testing.RingWork;
import io.sidewarp.service.testing.TestSession;

/** Tests the semantics of a work queue over rings. */
class RingSemanticsTest extends QueueSemanticsSuite {

    @Override
    PostedWork open(TestSession session, int credits) {
        return new RingWork(session.equals(client) ? left : right, session, credits);
    }
}
