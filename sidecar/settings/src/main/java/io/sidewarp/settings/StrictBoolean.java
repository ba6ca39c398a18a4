// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import java.util.Locale;
import org.eclipse.microprofile.config.spi.Converter;

/** Converts boolean settings. The configuration library's own converter reads every unknown value as false. */
public final class StrictBoolean implements Converter<Boolean> {

    private static final long serialVersionUID = 1;

    /** @throws IllegalArgumentException when the value is neither "true" nor "false", in any case */
    @Override
    public Boolean convert(String value) {
        return switch (value.strip().toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("allowed: true or false");
        };
    }
}
