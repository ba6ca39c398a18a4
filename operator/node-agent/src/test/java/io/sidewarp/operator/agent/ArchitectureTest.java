// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Checks the order of the packages of the node agent. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.sidewarp.operator.agent");

    @Test
    void packagesFormNoCycle() {
        slices().matching("io.sidewarp.operator.agent.(*)..")
                .should()
                .beFreeOfCycles()
                .check(CLASSES);
    }

    @Test
    void onlyThePackagesOfTheNodeAndOfClaimsCallTheApiServer() {
        noClasses()
                .that()
                .resideOutsideOfPackages("..agent.node..", "..agent.dra..", "io.sidewarp.operator.agent")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.fabric8..")
                .check(CLASSES);
    }
}
