fn main() {}
mod common;
use common::*;
#[test]
fn zero() {
    let mut l = link("a", 1e6, None);
    l.rate_bps = None;
    let mut f = flow("f", &[0], &[], ns2(tcp::Recovery::Tahoe));
    f.sender.max_window = Some(5.0);
    let s = scenario("t", 1.0, vec![l], vec![f]);
    assert!(sim::check(&s).is_empty());
    let mut e = sim::Engine::new(&s, 0);
    eprintln!("{:?}", e.advance(10_000_000));
    eprintln!("{}", e.fraction());
}
