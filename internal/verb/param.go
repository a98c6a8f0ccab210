// This file describes the parameters of verbs, which are derived from the fields in the structs that contain the
// arguments.

package verb

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// Param describes a parameter of a verb, for interfaces that do not use JSON.
type Param struct {
	Name string // name in the JSON object, for example "max_tokens"
	// name of the flag without dashes, for example "max-tokens" ("" if it is only a positional argument)
	Flag             string
	Short            string // flag of one letter, or ""
	Usage            string // sentence that describes the parameter
	ValuePlaceholder string // placeholder for the value in help texts, or ""
	Default          string // default value on the command line, or ""
	// "string", "integer", "number" or "boolean" (for a repeatable parameter, the type of each item)
	Type        string
	Repeatable  bool     // the value is a list
	Required    bool     // a call without this parameter fails
	AllowsEmpty bool     // "" is a valid value, for example a name in another program's file
	Enum        []string // the allowed values (nil if every value is allowed)
	OtherNames  []string // other names that are accepted in the JSON object
	Unlisted    bool     // the schema does not mention the parameter, because it is rare or replaceable by a filter

	fieldIndex []int // index of the field in the verb's argument struct, as for [reflect.Value.FieldByIndex]
}

// StructParams returns the parameters of a command. Each field of the struct type In is a parameter. The tags of a
// field are
//
//	json        name; the argument is required unless the tag has omitempty
//	jsonschema  short description for models, without repeating the name
//	also        other accepted names, which models guess
//	enum        the allowed values, separated by commas; "kind" for the kinds of an entry;
//	            "part" for the parts of an entry that the command "remember" can clear
//	empty       "allowed" if an empty string is a value, instead of an absent argument
//	schema      "-" if the parameter is accepted but not in the schema
//	flag        name of the flag, if it is not the name with dashes; "-" if there is no flag
//	short       flag of a single letter
//	value       placeholder for the value in the help
//	default     default value on a command line
//	usage       sentence for the help of a command line and for errors; the default is jsonschema
//
// StructParams panics if a field has a type that is not supported, because that is a programming error.
func StructParams[In any]() []Param { return structParams(reflect.TypeFor[In]()) }

func structParams(t reflect.Type) []Param {
	var ps []Param
	tag := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		readTag(tag, string(f.Tag))
		name, opts, _ := strings.Cut(tag["json"], ",")
		if name == "-" || f.Anonymous {
			continue // Skip an embedded struct, because VisibleFields also lists the fields in the struct.
		}
		p := Param{Name: name, Flag: cmp.Or(tag["flag"], strings.ReplaceAll(name, "_", "-")), Short: tag["short"],
			Usage:            cmp.Or(tag["usage"], tag["jsonschema"]),
			ValuePlaceholder: tag["value"], Default: tag["default"], Required: !strings.Contains(opts, "omitempty"),
			AllowsEmpty: tag["empty"] != "", Enum: enumValues(tag["enum"]), Unlisted: tag["schema"] == "-",
			fieldIndex: f.Index}
		if p.Flag == "-" {
			p.Flag = ""
		}
		if a := tag["also"]; a != "" {
			p.OtherNames = strings.Split(a, ",")
		}
		p.Type, p.Repeatable = paramType(f.Type)
		if p.Type == "" {
			panic(fmt.Sprintf("tool: parameter %s of %v has a type that no door can show", name, t))
		}
		ps = append(ps, p)
	}
	return ps
}

// readTag reads the tag of a field, and stores its keys and values in values. It scans the tag only once.
// [reflect.StructTag.Get] would scan it for each key, which is too slow, because every start of the command line reads
// all verbs' tags.
func readTag(values map[string]string, tag string) {
	clear(values)
	for {
		key, rest, _ := strings.Cut(strings.TrimLeft(tag, " "), ":")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return // The struct tag ends here. A malformed tag does not occur, because go vet refuses it.
		}
		values[key], _ = strconv.Unquote(quoted)
		tag = rest[len(quoted):]
	}
}

func enumValues(tag string) []string {
	switch tag {
	case "":
		return nil
	case "kind":
		var kinds []string
		for _, k := range oxbow.Kinds() {
			kinds = append(kinds, k.String())
		}
		return kinds
	case "part":
		return clearableEntryParts()
	}
	return strings.Split(tag, ",")
}

// paramType returns the type of the parameter for a field with type t, and whether it is repeatable.
func paramType(t reflect.Type) (name string, repeatable bool) {
	switch t.Kind() {
	case reflect.Slice:
		repeatable, t = true, t.Elem()
	case reflect.Pointer:
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		name = "string"
	case reflect.Bool:
		name = "boolean"
	case reflect.Int, reflect.Uint64:
		name = "integer"
	case reflect.Float64:
		name = "number"
	}
	return name, repeatable
}

// CheckValue checks the value of the parameter p. The argument in is a pointer to the struct that contains the value.
// CheckValue returns an error if the value contains text that JSON cannot represent, or if a required string is empty
// although p.AllowsEmpty is false. Values that are not strings, and pointers, are not checked. The argument nameInError
// is the name of the text in the error.
func (p Param) CheckValue(in any, nameInError string) error {
	f := reflect.ValueOf(in).Elem().FieldByIndex(p.fieldIndex)
	switch {
	case p.Type != "string":
		return nil
	case p.Repeatable:
		for i := range f.Len() {
			if err := CheckText(nameInError, f.Index(i).String()); err != nil {
				return err
			}
		}
		return nil
	case f.Kind() == reflect.Pointer:
		return nil
	case p.Required && !p.AllowsEmpty && f.String() == "":
		return InvalidValue(p.Name, "", "is empty; "+lowerFirstLetter(p.Usage))
	}
	return CheckText(nameInError, f.String())
}

// CheckText returns an error if s is not valid UTF-8, because JSON would replace the invalid bytes silently. textName
// is the name of the text in the error.
func CheckText(textName, s string) error {
	if !utf8.ValidString(s) {
		return &oxbow.InvalidError{
			Field:  textName,
			Reason: "is not UTF-8 text; convert it first, for example with iconv -t UTF-8",
		}
	}
	return nil
}
