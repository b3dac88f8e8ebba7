use super::*;

impl Queue {
    /// Gives the queue an AQM that drops at departure packets that have waited for longer than a time.
    pub(crate) fn be_impatient(&mut self, patience: Time) {
        self.aqm = Some(Aqms::impatient(patience));
    }
}

#[test]
fn the_list_says_which_disciplines_are_random_and_which_are_foreseen() {
    let expected = [
        ("drop-tail", false, true),
        ("drop-from-front", false, false),
        ("random-drop", true, false),
        ("red", true, true),
        ("red-linux", true, true),
        ("codel", false, false),
        ("pie", true, false),
        ("pi", true, false),
        ("red-random-drop", true, false),
        ("priority", false, false),
        ("priority-push-out", false, false),
        ("fq", true, false),
        ("fq-codel", true, false),
        ("fq-pie", true, false),
        ("drr", false, false),
        ("wfq", false, false),
        ("drr-ns2", false, false),
        ("sfq", true, false),
        ("sfq-linux", true, false),
        ("dualpi2", true, false),
        ("dualpi2-rfc", false, false),
        ("step", false, true),
        ("cobalt", true, false),
        ("cake", true, false),
    ];
    let listed = disciplines();
    for (name, random, foreseen) in expected {
        let (_, discipline) = listed.iter().find(|(other, _)| *other == name).expect("a discipline of the list");
        assert_eq!((discipline.is_random(), discipline.is_foreseen()), (random, foreseen), "{name}");
    }
}
