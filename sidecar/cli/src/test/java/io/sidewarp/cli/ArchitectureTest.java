// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Checks the order of the packages of the command line. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.sidewarp.cli");

    @Test
    void packagesFormNoCycle() {
        slices().matching("io.sidewarp.cli.(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void commandsDoNotKnowTheEngine() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.sidewarp.engine..", "io.sidewarp.provider..", "io.sidewarp.service..")
                .allowEmptyShould(true)
                .check(CLASSES);
    }
}
