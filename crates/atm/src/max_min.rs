/// What a source may have, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The ports that it crosses.
    pub ports: Vec<usize>,
    /// The most that it wants \[bit/s\].
    pub most: f64,
}

/// The max-min fair shares, centrally: all rates rise together; a source stops where a port of its way is full, or at what it wants.
///
/// ```
/// use atm::{max_min, Claim};
/// let claim = |ports: &[usize]| Claim { ports: ports.to_vec(), most: 1e9 };
/// assert_eq!(max_min(&[10.0, 4.0], &[claim(&[0]), claim(&[0, 1]), claim(&[1])]), [8.0, 2.0, 2.0]);
/// ```
pub fn max_min(capacities: &[f64], claims: &[Claim]) -> Vec<f64> {
    let mut shares = vec![0.0; claims.len()];
    let mut open: Vec<usize> = (0..claims.len()).collect();
    let mut left = capacities.to_vec();
    while !open.is_empty() {
        let crossing = |port: usize| open.iter().filter(|&&claim| claims[claim].ports.contains(&port)).count();
        let fair: Vec<f64> = left.iter().enumerate().map(|(port, left)| left / crossing(port) as f64).collect();
        let limit =
            |claim: usize| claims[claim].ports.iter().map(|&port| fair[port]).fold(claims[claim].most, f64::min);
        let level = open.iter().map(|&claim| limit(claim)).fold(f64::INFINITY, f64::min);
        // Those that can rise no further, with a tolerance for the rounding of equal limits.
        let (stopped, rising): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&claim| limit(claim) <= level * (1.0 + 1e-12));
        for claim in stopped {
            shares[claim] = level;
            claims[claim].ports.iter().for_each(|&port| left[port] -= level);
        }
        open = rising;
    }
    shares
}
