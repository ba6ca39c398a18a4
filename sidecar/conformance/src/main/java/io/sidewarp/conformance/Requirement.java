// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the requirements that a test proves, by their ids in {@code docs/conformance.tsv}, such as {@code MPA-4.4-11}.
 *
 * <p>On a class the annotation holds for each test of the class. A tagged test must fail if the requirement is broken.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Requirement {
    /** Ids of requirements. An id that {@code docs/conformance.tsv} does not have fails the build. */
    String[] value();
}
