// Package review implements the verbs for what a person decides about: the proposals of the inbox,
// and texts of persons that agents changed.
package review
