// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks what the client needs. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.sidewarp.client");

    @Test
    void theClientNeedsNoFrameworkAndNothingOfTheSidecar() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.quarkus..",
                        "jakarta..",
                        "io.sidewarp.engine..",
                        "io.sidewarp.provider..",
                        "io.sidewarp.service..")
                .check(CLASSES);
    }

    @Test
    void noSignatureOfTheApiHasATypeOfTheContract() {
        List<String> generated = CLASSES.stream()
                .filter(ArchitectureTest::isApi)
                .flatMap(type -> type.getMembers().stream())
                .filter(member -> isVisible(member.getModifiers()))
                .filter(member -> types(member).anyMatch(ArchitectureTest::isGenerated))
                .map(JavaMember::getFullName)
                .toList();

        assertThat(generated).isEmpty();
    }

    /** Returns whether users can name a type: it is public, and so are the types around it. */
    private static boolean isApi(JavaClass type) {
        return isVisible(type.getModifiers())
                && type.getEnclosingClass().map(ArchitectureTest::isApi).orElse(true);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static Stream<JavaClass> types(JavaMember member) {
        Stream<JavaType> mentioned = member instanceof JavaCodeUnit code
                ? Stream.concat(Stream.of(code.getReturnType()), code.getParameterTypes().stream())
                : Stream.of(((JavaField) member).getType());
        return mentioned.flatMap(type -> type.getAllInvolvedRawTypes().stream());
    }

    private static boolean isGenerated(JavaClass type) {
        return type.getPackageName().startsWith("io.sidewarp.v1")
                || type.getPackageName().startsWith("com.google.protobuf");
    }
}
