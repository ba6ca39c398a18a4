// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.sidewarp.conformance.Requirement;
import java.io.ObjectInputStream;
import java.lang.invoke.MethodHandles;
import org.junit.jupiter.api.Test;

/** Checks what the classes that clients talk to cannot do. */
class ArchitectureTest {

    private static final JavaClasses SERVICE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.sidewarp.service");

    @Test
    @Requirement("RDMAP-8.1.1-12")
    void nothingLoadsCodeOrStartsProgramsSoNoClientCanMakeIt() {
        DescribedPredicate<JavaClass> loaders = DescribedPredicate.describe(
                "load code or run programs",
                type -> type.isAssignableTo(ClassLoader.class)
                        || type.isAssignableTo(ObjectInputStream.class)
                        || type.isAssignableTo(ProcessBuilder.class));
        DescribedPredicate<JavaMethodCall> loading = DescribedPredicate.describe(
                "loads code or runs a program",
                call -> call.getTargetOwner().isAssignableTo(MethodHandles.Lookup.class)
                                && call.getName().startsWith("define")
                        || call.getTargetOwner().isAssignableTo(Runtime.class)
                                && call.getName().matches("exec|load.*"));
        noClasses().should().dependOnClassesThat(loaders).check(SERVICE);
        noClasses().should().callMethodWhere(loading).check(SERVICE);
    }
}
