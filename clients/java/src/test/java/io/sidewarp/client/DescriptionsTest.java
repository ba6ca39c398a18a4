// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Internal.EnumLite;
import com.google.protobuf.Message;
import io.sidewarp.v1.Association;
import io.sidewarp.v1.Capability;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.ReadDepthNegotiation;
import io.sidewarp.v1.ReadyIndication;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegionState;
import io.sidewarp.v1.SessionInfo;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the client's own types say the same as the contract. */
class DescriptionsTest {

    /** Boolean fields differ in one bit of their numbers, so that all bits tell each from each. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4})
    void everyComponentHasTheValueOfItsField(int bit) throws Exception {
        check(bit, DeviceInfo.newBuilder(), Descriptions::device);
        check(bit, SessionInfo.newBuilder(), Descriptions::session);
        check(bit, io.sidewarp.v1.Connection.newBuilder(), Descriptions::connection);
        check(bit, ConnectionStateChange.newBuilder(), Descriptions::event);
        check(bit, Region.newBuilder(), Descriptions::region);
        check(bit, Association.newBuilder(), Descriptions::association);
    }

    @Test
    void whatThePeerDidNotAnnounceIsEmpty() {
        ConnectionInfo info = Descriptions.connection(io.sidewarp.v1.Connection.getDefaultInstance());

        assertThat(info.agreed().peerIrd()).isEmpty();
        assertThat(info.agreed().peerOrd()).isEmpty();
        assertThat(info.agreed().security()).isEqualTo(SecurityInUse.UNKNOWN);
        assertThat(info.agreed().peerIdentity()).isEmpty();
        assertThat(info.error()).isEmpty();
        assertThat(info.state()).isEqualTo(Connection.State.UNKNOWN);
    }

    @Test
    void valuesOfNewerSidecarsAreNoObstacle() {
        DeviceInfo device = DeviceInfo.newBuilder()
                .addLlpsValue(99)
                .addCapabilitiesValue(99)
                .addCapabilities(Capability.CAPABILITY_ATOMIC_OPERATIONS)
                .build();

        assertThat(Descriptions.device(device).llps()).isEmpty();
        assertThat(Descriptions.device(device).capabilities())
                .containsExactly(RdmaDeviceInfo.Capability.ATOMIC_OPERATIONS);
    }

    static List<Arguments> enums() {
        return List.of(
                Arguments.of(Access.values(), io.sidewarp.v1.Access.values()),
                Arguments.of(CompletionStatus.values(), io.sidewarp.v1.CompletionStatus.values()),
                Arguments.of(Connection.State.values(), ConnectionState.values()),
                Arguments.of(CreateMode.values(), io.sidewarp.v1.CreateMode.values()),
                Arguments.of(LowerLayerProtocol.values(), Llp.values()),
                Arguments.of(Opcode.values(), io.sidewarp.v1.Opcode.values()),
                Arguments.of(RdmaDeviceInfo.Capability.values(), Capability.values()),
                Arguments.of(ReadDepthExchange.values(), ReadDepthNegotiation.values()),
                Arguments.of(ReadyToReceive.values(), ReadyIndication.values()),
                Arguments.of(RegionInfo.State.values(), RegionState.values()),
                Arguments.of(Retry.values(), io.sidewarp.v1.Retry.values()),
                Arguments.of(Security.values(), io.sidewarp.v1.Security.values()),
                Arguments.of(SecurityInUse.values(), io.sidewarp.v1.SecurityInUse.values()));
    }

    @ParameterizedTest
    @MethodSource("enums")
    void everyConstantHasTheNumberOfTheContract(Enum<?>[] own, Enum<?>[] contract) {
        List<Enum<?>> known = Stream.of(own)
                .filter(constant -> !constant.name().equals("UNKNOWN"))
                .toList();
        List<Enum<?>> named = Stream.of(contract)
                .filter(constant -> !constant.name().equals("UNRECOGNIZED")
                        && !constant.name().endsWith("UNSPECIFIED"))
                .toList();

        assertThat(known).hasSameSizeAs(named);
        for (Enum<?> constant : known) {
            assertThat(named).anySatisfy(value -> {
                assertThat(((EnumLite) value).getNumber()).isEqualTo(Protos.number(constant));
                assertThat(value.name()).endsWith("_" + constant.name());
            });
        }
    }

    private static <M extends Message> void check(
            int bit, Message.Builder builder, Function<M, ? extends Record> conversion)
            throws ReflectiveOperationException {
        @SuppressWarnings("unchecked")
        M message = (M) fill(builder, bit);
        compare(conversion.apply(message), message);
    }

    /** Gives each field a value of its own. */
    private static Message fill(Message.Builder builder, int bit) {
        for (FieldDescriptor field : builder.getDescriptorForType().getFields()) {
            Object value = switch (field.getJavaType()) {
                case INT -> field.getNumber();
                case LONG -> (long) field.getNumber();
                case STRING -> field.getName();
                case BOOLEAN -> (field.getNumber() >> bit & 1) != 0;
                case ENUM -> field.getEnumType().findValueByNumber(2);
                case MESSAGE -> fill(builder.newBuilderForField(field), bit);
                default -> field.getDefaultValue();
            };
            if (field.isRepeated()) {
                builder.addRepeatedField(field, value);
            } else {
                builder.setField(field, value);
            }
        }
        return builder.build();
    }

    private static void compare(Record own, Message message) throws ReflectiveOperationException {
        for (RecordComponent component : own.getClass().getRecordComponents()) {
            Object value = component.getAccessor().invoke(own);
            FieldDescriptor field = message.getDescriptorForType().findFieldByName(fieldName(component.getName()));
            if (field == null) {
                // A group of fields that the contract has in the message itself.
                compare((Record) value, message);
                continue;
            }
            Object expected = message.getField(field);
            Object first = field.isRepeated() ? ((List<?>) expected).getFirst() : expected;
            switch (unwrap(value)) {
                case Record nested -> compare(nested, (Message) first);
                case Enum<?> constant ->
                    assertThat(Protos.number(constant)).as(component.getName()).isEqualTo(2);
                case Duration duration ->
                    assertThat(Protos.duration(duration))
                            .as(component.getName())
                            .isEqualTo(first);
                case Object plain -> assertThat(plain).as(component.getName()).isEqualTo(first);
            }
        }
    }

    private static Object unwrap(Object value) {
        return switch (value) {
            case Optional<?> optional -> optional.orElseThrow();
            case OptionalInt optional -> optional.getAsInt();
            case List<?> list -> list.getFirst();
            case Object plain -> plain;
        };
    }

    /** Returns the contract's name of a component: connectionCount becomes connection_count. */
    private static String fieldName(String component) {
        return component.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT).replace("bytes", "octets");
    }
}
