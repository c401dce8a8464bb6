package audit

// What tests of the check need to know.
var ChangeTime = changeTime

const Settled = settled
