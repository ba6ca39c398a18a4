// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static io.sidewarp.engine.testing.MpaPolicies.bits;

import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Llp;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Connections over TCP. */
final class SoftwareProviderTest extends ProviderSuite {

    SoftwareProviderTest() {
        super(Llp.TCP);
    }

    @Override
    SoftwareSettings serverSettings() {
        return SoftwareSettings.defaults();
    }

    /** {@inheritDoc} The kernel refuses. */
    @Override
    ConnectionFailedException.Kind nobodyThere() {
        return ConnectionFailedException.Kind.UNREACHABLE;
    }

    @Override
    ConnectionParameters parameters() {
        return ConnectionParameters.defaults();
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true", "false, true"})
    void movesDataWithAndWithoutCrcsAndMarkers(boolean crc, boolean markers) throws Exception {
        moveData(parameters().withMpa(bits(markers, crc)));
    }
}
