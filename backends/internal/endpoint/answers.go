package endpoint

import "memdesk/model"

// AnotherItem is the error of an answer about another item, as a broken cache gives: it would be shown, kept and written
// in the place of the one that was asked for.
func AnotherItem(op string) error {
	return model.Errorf(model.Unavailable, op, "the server answered with another item than the one that was asked for")
}

// Removed is the number of removed items in an answer. A negative one tells nothing.
func Removed(op string, n int64) (int64, error) {
	if n < 0 {
		return 0, model.Errorf(model.Unavailable, op, "the server says that it removed %d items: whether it removed any is not known", n)
	}
	return n, nil
}
