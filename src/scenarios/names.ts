/** @file Names of people. Customers of the split `unseen` have names that no other split has. */
import type { Split } from '../records/task.ts';

const words = (text: string): readonly string[] => text.split(' ');

const SEEN = {
  first: words(
    'Ada Ben Carla Dina Emil Fatima Georg Hana Ivo Jana Karim Lena Mara Nils Olga Pablo Rosa Sami Tara Umar Vera Wanda Yusuf Zoe',
  ),
  last: words('Adler Bauer Costa Dahl Egger Fuchs Gomez Haas Ito Jensen Kaya Lopez Moser Novak Okafor Peters Rossi Silva Tanaka Weber'),
};
const UNSEEN = {
  first: words('Amir Bella Cyrus Daria Elio Freya Gita Hugo Ines Jorge Kira Luca'),
  last: words('Abadi Brandt Cruz Duarte Eklund Farah Gruber Hansen Ivanov Joshi Kowal Lindt'),
};

export const namesOf = (split: Split): typeof SEEN => (split === 'unseen' ? UNSEEN : SEEN);
