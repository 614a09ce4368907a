"""What the demo web says in English when it does not teach physics; the form is as in Chinese.

Senior physics in English; the form is that of the Chinese lessons,
with commas between the terms.
"""

NAMES = ("Alice Morgan", "Ben Carter", "Clara Hughes", "Daniel Price", "Erin Walsh", "Frank Osei")
PLACES = ("Ashford", "Bramley", "Corfe", "Dunmore", "Elmswell", "Fairlea", "Harbour Street")

PROSE = """
blog
How we moved this site to a new server|Reading list for {year}|A week in {place}|Office plants
Notes from the {place} teachers' meeting|Why our newsletter changed its name|Thank you, {name}
We spent the weekend copying files from the old machine, and only one cable was lost.
The new theme is lighter, prints better, and no longer blinks.
{name} wrote to say that the contact form had been broken since March; it is mended now.
On the train to {place} I read half of a novel about lighthouses and slept through the rest.
The newsletter goes out on the first Monday of the month to {n} hundred readers.
Our coffee machine has been replaced, after a short debate, by an identical one.
If you would like to write for us, send a paragraph about yourself to the editors.
Comments are open for two weeks and then close, because of the robots.
The photographs are by {name}, who walked around {place} before breakfast.
We compared {n} notebooks and bought the cheapest one.
Old posts keep their addresses, and broken links are our fault: please report them.
In {year} we plan to tidy the archive and to answer letters within a week.

about
About us|People|Contact|Terms of use|Privacy|Help and questions
We are a small group of teachers and volunteers who share what we make.
{name} looks after the web pages, and {name} answers the mail.
Our office is on the second floor of the old library in {place}.
Material may be copied for teaching as long as the source is named.
We do not use cookies except the one that remembers your language.
Visitors are welcome on Tuesdays; please ring twice, the bell is old.
The site began in {year} as a folder on a borrowed computer.

library
Catalogue news|Special collections|Recordings and tapes|Opening hours|The {place} bequest
The reading room opens at nine and closes when {name} has found her keys.
Boxes from the {place} bequest are being sorted, and a list will follow.
Recordings on tape are transferred one afternoon a week, oldest first.
Please order items from the store a day ahead, on the green form.
A grant in {year} paid for new shelves and for a ladder that does not wobble.
The catalogue lists {n} thousand entries, most of them by title only.
Scanned index cards can be browsed drawer by drawer.

music
Top {n} singles of the week|{name}: Blue Harbour|Live from {place}|Summer mixtape {year}|New: {name}
The chorus arrives late, stays long, and is impossible to forget.
{name} recorded the album in a barn near {place} with two borrowed guitars.
This week's chart opens with a ballad and ends with a dance remix.
The band tours in autumn; tickets for {place} go on sale on Friday.
Press play to hear the single, or buy the whole album for {n} coins.
Handclaps, a cheap organ and a singer who means every word: pop at its best.
Fans waited four hours in the rain at {place} and sang along to everything.
The remix adds strings and takes away the bridge, which is a pity.
Lyrics are printed in the booklet together with drawings by {name}.

games
Snake, level {n}|Marble Pop {n}|Farm of {place}: walkthrough|Pirate cards|High scores {year}
Use the arrow keys to steer and the space bar to jump over the fence.
The key to level {n} is under the barrel behind the windmill.
Match {n} marbles of one colour and the row disappears with a bell.
This week's highest score belongs to {name} from {place}.
If the game does not start, reload the page and allow the plug-in.
Players who liked this one also tried the pirate card game.
Seeds planted at night are ready for harvest before breakfast.
"""


LESSONS = """
projectile-motion Projectile motion Mechanics | range, trajectory, parabola, velocity components
Projectile motion is constant horizontal velocity combined with constant vertical acceleration.
Launched from level ground without drag, a projectile has its greatest range at 45 degrees.
The time of flight depends only on the vertical component of the initial velocity.
Two balls, one dropped and one thrown horizontally, reach the floor at the same moment.

newtons-laws Newton's laws of motion Mechanics | force, mass, acceleration, inertia
Newton's second law relates the net force on a body to its mass and acceleration.
A free-body diagram shows every force on one body and none that the body exerts on others.
Action and reaction act on different bodies, which is why they never cancel.
On the air track the glider keeps its velocity once the hanging mass has reached the floor.

circular-motion Uniform circular motion Mechanics | centripetal force, angular velocity, period
A body in uniform circular motion accelerates towards the centre although its speed is constant.
The centripetal force is no new force: tension, gravity or friction provides it.
At the top of the loop the normal force vanishes at the slowest speed that still works.
Banking a curve lets the normal force supply the centripetal acceleration without friction.

gravitation Universal gravitation Mechanics | orbit, Kepler's laws, satellite, gravitational field
Newton's law of gravitation gives an attraction that falls off with the square of the distance.
Kepler's third law follows when gravity provides the centripetal force of a circular orbit.
A geostationary satellite orbits once a day above a fixed point of the equator.
Escape velocity is reached when kinetic energy equals the depth of the potential well.

energy-conservation Conservation of energy Mechanics | work, kinetic energy, potential energy, power
Without friction, kinetic energy and gravitational potential energy sum to a constant.
The work done by the net force equals the change in kinetic energy.
A pendulum released from the lecturer's nose returns to it, and not one centimetre further.
Power is the rate at which work is done, or force times velocity along it.

momentum Conservation of momentum Mechanics | impulse, elastic collision, recoil, centre of mass
The total momentum of an isolated system stays constant in every collision.
In an elastic collision kinetic energy is conserved as well as momentum.
Impulse is the change of momentum, so a longer stop means a smaller force.
The centre of mass of two gliders moves on steadily while they bounce apart.

simple-harmonic Simple harmonic motion Waves | oscillation, restoring force, pendulum, resonance
Simple harmonic motion needs a restoring force proportional to the displacement.
The period of a small pendulum swing depends on its length and on gravity, not on the mass.
A driven oscillator responds most strongly at its natural frequency: that is resonance.
Displacement, velocity and acceleration are sinusoidal, each a quarter period apart.

standing-waves Standing waves Waves | superposition, node, antinode, wavelength, harmonics
A standing wave is the superposition of two equal waves that travel in opposite directions.
Nodes stay at rest half a wavelength apart, and antinodes swing between them.
A string fixed at both ends supports only whole numbers of half wavelengths.
Dust in the tube settles at the nodes, which measures the speed of sound.

electric-field Electric fields Electromagnetism | Coulomb's law, charge, field lines, potential
Coulomb's law gives the force between two point charges at a distance.
Electric field lines leave positive charges, end on negative ones, and never cross.
The field between two parallel plates is uniform, and a charge there moves on a parabola.
Potential difference is the work done per unit charge against the electric field.

capacitors Capacitors Electromagnetism | capacitance, dielectric, RC circuit, time constant
Capacitance is the charge stored per volt, set by area, gap and dielectric.
The voltage of a discharging capacitor falls exponentially with the time constant RC.
Energy stored in a capacitor grows with the square of the voltage.
Pulling charged plates apart raises the voltage although no charge is added.

dc-circuits Direct current circuits Electromagnetism | Ohm's law, resistance, emf, Kirchhoff's rules
Ohm's law says current is proportional to voltage for a resistor at constant temperature.
Kirchhoff's loop rule is conservation of energy, and his junction rule conservation of charge.
Internal resistance makes the terminal voltage of a cell fall as current is drawn.
Resistors in parallel share the voltage, and the smallest resistance carries most current.

magnetic-force Magnetic force Electromagnetism | Lorentz force, cyclotron, magnetic field, flux
The Lorentz force on a moving charge is perpendicular to velocity and magnetic field.
In a uniform magnetic field an electron moves in a circle whose period ignores its speed.
A wire carrying a current jumps out of the horseshoe magnet when the switch is closed.
The mass spectrometer sorts ions by the radius of their path in a magnetic field.

induction Electromagnetic induction Electromagnetism | Faraday's law, Lenz's law, flux, induced emf
Electromagnetic induction produces an emf whenever magnetic flux through a circuit changes.
Faraday's law sets the induced emf equal to the rate of change of flux linkage.
Lenz's law: the induced current opposes the change of flux that causes it.
A magnet dropped through a copper pipe falls slowly because of eddy currents.

alternating-current Alternating current Electromagnetism | transformer, rms voltage, generator
A coil turning in a uniform magnetic field generates a sinusoidal alternating current.
The rms value of a sinusoidal current is its peak divided by the square root of two.
A transformer changes voltage in the ratio of the numbers of turns.
Power lines run at high voltage so that the current, and the heat it wastes, stay small.

refraction Refraction of light Optics | Snell's law, refractive index, critical angle, lens
Snell's law relates the angles of incidence and refraction through the refractive indices.
Total internal reflection begins at the critical angle and keeps light inside a fibre.
A converging lens forms a real image of an object beyond its focal length.
The glass rod vanishes in oil because both have the same refractive index.

interference Interference and diffraction Optics | double slit, fringe, wavelength, coherence
In Young's double slit experiment the fringe spacing grows with the wavelength.
Light from two coherent sources interferes constructively where the path difference is whole.
A narrower slit spreads the diffraction pattern wider.
A diffraction grating separates the lines of a spectrum far better than two slits.

gas-laws Ideal gas laws Heat | pressure, volume, absolute temperature, kinetic theory
The ideal gas law links pressure, volume and absolute temperature of a fixed mass of gas.
Boyle's law holds when a gas is compressed slowly at constant temperature.
Kinetic theory explains pressure by molecules that bounce off the walls.
The first law of thermodynamics adds heat and work to the change of internal energy.

photoelectric Photoelectric effect Atoms | photon, work function, threshold frequency
In the photoelectric effect light below the threshold frequency frees no electrons at all.
The energy of a photon is Planck's constant times its frequency.
Stopping potential against frequency is a straight line whose slope gives Planck's constant.
Brighter light of the same colour frees more electrons, not faster ones.

bohr-model Bohr model of the atom Atoms | energy level, spectrum, quantum jump, hydrogen
Electrons of the Bohr atom occupy discrete energy levels and radiate only when they jump.
The Balmer lines of hydrogen end on the second energy level.
Rutherford's scattering of alpha particles showed that the atom has a tiny nucleus.
The wavelength of a spectral line follows from the difference of two energy levels.

radioactivity Radioactive decay Atoms | half-life, nucleus, fission, fusion, binding energy
Radioactive decay is random for one nucleus and exponential for many.
After three half-lives one eighth of the nuclei remain.
Nuclear fission of uranium releases neutrons that can sustain a chain reaction.
The mass defect of a nucleus, times c squared, is its binding energy.
"""

GENERAL = """
{topic} is examined every year, so work through the physics with a pencil in hand.
Before you begin, recall what {word} and {word} mean and in which units they are measured.
Sketch the situation, name the physical quantities, and only then choose an equation.
The experiment takes ten minutes; estimate the uncertainty before you trust a digit.
{topic}: the common mistake is to forget where the law stops being valid.
This physics unit was recorded with the senior class of {place} by {name}.
Check the units of your result and ask whether its size makes sense.
The worked example shows how {word} enters the calculation.
"""
