// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static io.sidewarp.engine.memory.AccessRight.LOCAL_WRITE;
import static io.sidewarp.engine.memory.AccessRight.REMOTE_ATOMIC;
import static io.sidewarp.engine.memory.AccessRight.REMOTE_READ;
import static io.sidewarp.engine.memory.AccessRight.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class AccessRightTest {

    @Test
    void eachRightHasABitOfItsOwn() {
        assertThat(Integer.bitCount(AccessRight.mask(AccessRight.values()))).isEqualTo(AccessRight.values().length);
    }

    @Test
    void memoryIsChangedByWhoMayWriteToItOrApplyAtomicOperations() {
        assertThat(AccessRight.values())
                .filteredOn(AccessRight::permitsChange)
                .containsExactly(LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC);
    }

    @Test
    void aMaskHasTheBitsOfItsRightsOnly() {
        assertThat(AccessRight.mask(REMOTE_READ, LOCAL_WRITE)).isEqualTo(REMOTE_READ.bit() | LOCAL_WRITE.bit());
        assertThat(AccessRight.mask(Set.of(REMOTE_WRITE))).isEqualTo(REMOTE_WRITE.bit());
        assertThat(AccessRight.mask(Set.of())).isZero();
    }
}
