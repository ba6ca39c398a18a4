// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A list of objects of one kind: a table with their columns for people, and JSON objects with their members for
 * programs.
 */
public final class Listing<T> {

    private final String name;
    private final List<Column<T>> columns = new ArrayList<>();
    private final List<Member<T>> members = new ArrayList<>();
    private Function<T, String> note = _ -> "";

    private record Column<T>(String title, Function<T, Object> cell) {}

    private record Member<T>(String key, Predicate<T> present, Function<T, Object> value) {}

    /**
     * A list, or one object.
     *
     * @param text for people; each line has its line end
     * @param json for programs, an object for {@link Json}
     */
    public record View(String text, Object json) {}

    /** @param name plural of the kind, for people */
    public Listing(String name) {
        this.name = name;
    }

    /** Adds a column. A column whose title begins with {@code >} is flush right. */
    public Listing<T> column(String title, Function<T, Object> cell) {
        columns.add(new Column<>(title, cell));
        return this;
    }

    /** Adds a member of the JSON object. */
    public Listing<T> member(String key, Function<T, Object> value) {
        return member(key, _ -> true, value);
    }

    /** Adds a member that only some objects have. */
    public Listing<T> member(String key, Predicate<T> present, Function<T, Object> value) {
        members.add(new Member<>(key, present, value));
        return this;
    }

    /** Adds a column and a member with the same value. */
    public Listing<T> both(String title, String key, Function<T, Object> value) {
        return column(title, value).member(key, value);
    }

    /** Adds the columns of a part of each object. */
    public <P> Listing<T> columns(Function<T, P> part, Listing<P> other) {
        other.columns.forEach(column -> column(column.title(), part.andThen(column.cell())));
        return this;
    }

    /** Adds the members of a part of each object. */
    public <P> Listing<T> members(Function<T, P> part, Listing<P> other) {
        other.members.forEach(member -> member(
                member.key(), object -> member.present().test(part.apply(object)), part.andThen(member.value())));
        return this;
    }

    /** Adds a line below the table for each object whose note is not empty. */
    public Listing<T> note(Function<T, String> line) {
        note = line;
        return this;
    }

    public View view(List<T> objects) {
        return new View(text(objects), json(objects));
    }

    public String text(List<T> objects) {
        if (objects.isEmpty()) {
            return "no " + name + "\n";
        }
        Table table = new Table(columns.stream().map(Column::title).toArray(String[]::new));
        objects.forEach(object -> table.row(
                columns.stream().map(column -> column.cell().apply(object)).toArray()));
        return table.render()
                + objects.stream()
                        .map(note)
                        .filter(line -> !line.isEmpty())
                        .map(line -> line + "\n")
                        .collect(Collectors.joining());
    }

    public List<Map<String, Object>> json(List<T> objects) {
        return objects.stream().map(this::json).toList();
    }

    public Map<String, Object> json(T object) {
        Map<String, Object> json = new LinkedHashMap<>();
        members.stream()
                .filter(member -> member.present().test(object))
                .forEach(member -> json.put(member.key(), member.value().apply(object)));
        return json;
    }
}
